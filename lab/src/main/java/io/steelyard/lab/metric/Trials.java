package io.steelyard.lab.metric;

import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.ForkRecord;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** Values of the trials of some processes. */
final class Trials {
  private Trials() {}

  /** {@code [fork][trial]}. */
  static double[][] of(List<ForkRecord> forks, ToDoubleFunction<Entry.Call> value) {
    return forks.stream()
        .map(fork -> fork.calls(Role.TRIAL).stream().mapToDouble(value).toArray())
        .toArray(double[][]::new);
  }
}

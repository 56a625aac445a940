package io.steelyard.lab.metric;

import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.stats.Sample;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Tokens a second: total tokens over total time, since a mean of rates would favour the fast
 * trials.
 */
final class Throughput {
  private Throughput() {}

  static Sample of(List<ForkRecord> forks) {
    return Sample.rates(
        ofTrials(forks, Entry.Call::tokens), ofTrials(forks, call -> call.nanos() / 1e9));
  }

  private static double[][] ofTrials(List<ForkRecord> forks, ToDoubleFunction<Entry.Call> value) {
    return forks.stream()
        .map(fork -> fork.calls(Role.TRIAL).stream().mapToDouble(value).toArray())
        .toArray(double[][]::new);
  }
}

package io.steelyard.lab.metric;

import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.stats.Sample;
import java.util.List;

/**
 * Tokens a second: total tokens over total time, since a mean of rates would favour the fast
 * trials.
 */
final class Throughput {
  private Throughput() {}

  static Sample of(List<ForkRecord> forks) {
    return Sample.rates(
        Trials.of(forks, Entry.Call::tokens), Trials.of(forks, call -> call.nanos() / 1e9));
  }
}

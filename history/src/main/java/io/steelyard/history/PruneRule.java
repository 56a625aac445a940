package io.steelyard.history;

import java.time.Instant;

/** Which runs are to go. */
public sealed interface PruneRule {
  /** Those that were started before this time. */
  record Before(Instant time) implements PruneRule {}

  /** All but the newest. */
  record KeepNewest(int runs) implements PruneRule {
    public KeepNewest {
      if (runs < 0) {
        throw new IllegalArgumentException("can't keep " + runs + " runs");
      }
    }
  }
}

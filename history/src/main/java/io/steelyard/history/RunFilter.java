package io.steelyard.history;

import java.util.Optional;

/**
 * Which runs are wanted, the newest first.
 *
 * @param source only those of this source
 * @param model only those of this model
 * @param limit at most so many
 */
public record RunFilter(Optional<String> source, Optional<String> model, int limit) {
  public RunFilter {
    if (limit < 1) {
      throw new IllegalArgumentException("at most " + limit + " runs: that is none");
    }
  }

  /** All runs. */
  public static RunFilter all() {
    return newest(Integer.MAX_VALUE);
  }

  /** The newest runs. */
  public static RunFilter newest(int limit) {
    return new RunFilter(Optional.empty(), Optional.empty(), limit);
  }
}

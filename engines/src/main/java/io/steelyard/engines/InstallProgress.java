package io.steelyard.engines;

/** Told how an installation goes on. */
@FunctionalInterface
public interface InstallProgress {
  InstallProgress NONE = (step, done, total) -> {};

  /**
   * A step has begun or moved on.
   *
   * @param step what is being done, in words
   * @param done bytes done
   * @param total bytes in all, or -1 where nobody knows
   */
  void report(String step, long done, long total);
}

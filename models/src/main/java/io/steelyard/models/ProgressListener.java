package io.steelyard.models;

/** Hears how far a long piece of work is. Calls come one at a time, from any thread. */
@FunctionalInterface
public interface ProgressListener {
  /** Listens to nothing. */
  ProgressListener NONE = (done, total) -> {};

  /**
   * Work has gone on.
   *
   * @param done bytes done so far, never less than before
   * @param total bytes in all, or -1 where nobody knows
   */
  void progress(long done, long total);
}

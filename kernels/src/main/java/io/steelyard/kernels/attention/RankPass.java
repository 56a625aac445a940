package io.steelyard.kernels.attention;

import java.lang.foreign.MemorySegment;

/** What one rank of a ring computes in a pass: it meets block after block, its own first. */
public interface RankPass extends AutoCloseable {
  /**
   * Attends to a rank's keys and values.
   *
   * @param block of {@link RankVariant#blockBytes} bytes, as that rank made it
   * @return whether there was anything to be seen
   */
  boolean meet(int source, MemorySegment block);

  /** Writes the results of the rank's positions. */
  void finish(AttentionOutputs outputs);

  @Override
  void close();
}

package io.steelyard.lab.worker;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Receives rows of float32 values, one a position. */
@FunctionalInterface
public interface RowSink {
  /**
   * Takes one row.
   *
   * @param row native-endian float32 values; only valid during the call
   */
  void row(MemorySegment row) throws IOException;
}

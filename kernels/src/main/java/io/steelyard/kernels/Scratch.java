package io.steelyard.kernels;

import java.lang.foreign.Arena;

/** A piece of scratch memory that grows to the largest size asked for. Contents are undefined. */
final class Scratch implements AutoCloseable {
  private Arena arena = Arena.ofShared();
  private long address;
  private long bytes;

  /** Address of at least so many bytes, aligned to a cache line. Earlier contents are lost. */
  long atLeast(long wanted) {
    if (wanted > bytes) {
      arena.close();
      arena = Arena.ofShared();
      address = arena.allocate(wanted, Rows.ALIGNMENT).address();
      bytes = wanted;
    }
    return address;
  }

  long bytes() {
    return bytes;
  }

  @Override
  public void close() {
    arena.close();
    bytes = 0;
  }
}

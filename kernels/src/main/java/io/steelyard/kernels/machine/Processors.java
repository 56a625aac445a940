package io.steelyard.kernels.machine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The processors that this process may use, on Linux. */
public final class Processors {
  /** Room for 1024 processors, a bit each. */
  private static final int MASK_BYTES = 128;

  private Processors() {}

  /**
   * Keeps the calling thread on one of the processors that it may use. Where that can't be done,
   * nothing changes.
   *
   * @param index which of them, from 0
   */
  public static void pinThread(int index) {
    if (!Cpu.obstacle().isEmpty()) {
      return;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
      if (call("sched_getaffinity", mask) < 0) {
        return;
      }
      int left = index;
      for (int bit = 0; bit < 8 * MASK_BYTES; bit++) {
        boolean allowed = ((mask.get(ValueLayout.JAVA_BYTE, bit / 8) >> (bit % 8)) & 1) == 1;
        if (allowed && left-- == 0) {
          mask.fill((byte) 0);
          mask.set(ValueLayout.JAVA_BYTE, bit / 8, (byte) (1 << (bit % 8)));
          call("sched_setaffinity", mask);
          return;
        }
      }
    }
  }

  private static int call(String function, MemorySegment mask) {
    return (int)
        NativeCalls.call(NativeCalls.function(function), 0, MASK_BYTES, mask.address(), 0, 0, 0);
  }
}

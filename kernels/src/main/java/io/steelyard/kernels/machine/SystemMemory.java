package io.steelyard.kernels.machine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Memory straight from the system. Its pages are zero and come into being when they are touched, as
 * large ones where the system has them: fewer entries for the processor to look up.
 */
public final class SystemMemory {
  /** Bytes of a large page. */
  public static final long LARGE_PAGE = 1L << 21;

  /** What the system takes for an error. */
  private static final long FAILED = -1;

  private static final long READ_WRITE = 3;
  private static final long PRIVATE_ANONYMOUS = 0x22;
  private static final long LARGE_PAGES_PLEASE = 14;
  private static final long PAGE = 4096;

  private SystemMemory() {}

  /**
   * Memory that is all zero. Large pieces only take up memory where they are used.
   *
   * @param bytes at least 0
   * @param alignment at most that of a page
   */
  public static MemorySegment zeros(Arena arena, long bytes, long alignment) {
    return bytes < LARGE_PAGE ? arena.allocate(bytes, alignment) : allocate(arena, bytes);
  }

  /**
   * Allocates.
   *
   * @param arena frees it when it is closed
   * @param bytes at least 1
   * @throws OutOfMemoryError if the system refuses
   */
  public static MemorySegment allocate(Arena arena, long bytes) {
    long whole = (bytes + PAGE - 1) / PAGE * PAGE;
    long address =
        NativeCalls.call(
            NativeCalls.function("mmap"), 0, whole, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
    if (address == FAILED) {
      throw new OutOfMemoryError("the system gives no " + bytes + " bytes of memory");
    }
    if (whole >= LARGE_PAGE) {
      preferLargePages(address, whole);
    }
    return MemorySegment.ofAddress(address)
        .reinterpret(bytes, arena, memory -> free(memory.address(), whole));
  }

  /** Asks for large pages; where there are none, nothing changes. */
  private static void preferLargePages(long address, long bytes) {
    NativeCalls.call(NativeCalls.function("madvise"), address, bytes, LARGE_PAGES_PLEASE, 0, 0, 0);
  }

  private static void free(long address, long bytes) {
    NativeCalls.call(NativeCalls.function("munmap"), address, bytes, 0, 0, 0, 0);
  }
}

package io.steelyard.kernels.machine;

import java.lang.foreign.MemorySegment;

/**
 * Memory that holds machine code: mapped writable, filled, then made readable and executable; it is
 * never writable and executable at once.
 */
final class ExecutableMemory {
  private static final long READ = 1;
  private static final long WRITE = 2;
  private static final long EXECUTE = 4;
  private static final long PRIVATE_ANONYMOUS = 0x22;
  private static final long PAGE = 4096;

  private ExecutableMemory() {}

  /**
   * Maps code for the life of the process.
   *
   * @return its address
   * @throws UnsupportedOperationException if the system forbids executable mappings
   */
  static long map(byte[] code) {
    long bytes = (code.length + PAGE - 1) / PAGE * PAGE;
    long address =
        NativeCalls.call(
            NativeCalls.function("mmap"), 0, bytes, READ | WRITE, PRIVATE_ANONYMOUS, -1, 0);
    if (address == -1) {
      throw new UnsupportedOperationException("the system gives no memory for machine code");
    }
    MemorySegment.ofAddress(address).reinterpret(bytes).copyFrom(MemorySegment.ofArray(code));
    long failed =
        NativeCalls.call(NativeCalls.function("mprotect"), address, bytes, READ | EXECUTE, 0, 0, 0);
    // The result is an int; only its low half counts.
    if ((int) failed != 0) {
      NativeCalls.call(NativeCalls.function("munmap"), address, bytes, 0, 0, 0, 0);
      throw new UnsupportedOperationException("this system forbids executable memory");
    }
    return address;
  }
}

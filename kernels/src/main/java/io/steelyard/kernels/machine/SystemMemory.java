package io.steelyard.kernels.machine;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

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
  private static final long NOT_NEEDED = 4;
  private static final long PAGE = 4096;

  private static final Path MAPPINGS = Path.of("/proc/self/smaps");

  private static final String VIRTUAL_MACHINE = System.getProperty("java.home") + "/lib/";

  /** Where a mapping's rights say whether it is written to, behind the blank before them. */
  private static final int WRITE_RIGHT = 2;

  private SystemMemory() {}

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

  /**
   * Gives back what only the start needed of the virtual machine's code and its cache of classes.
   * What is used again comes back from the system's own copy of the files. Where the system doesn't
   * say what is mapped, nothing changes.
   */
  public static void releaseStart() {
    List<String> lines;
    try {
      lines = Files.readAllLines(MAPPINGS);
    } catch (IOException e) {
      return;
    }
    long from = 0;
    long to = 0;
    boolean released = false;
    for (String line : lines) {
      if (!Character.isUpperCase(line.charAt(0))) {
        // A mapping: "from-to rights offset device inode path".
        int dash = line.indexOf('-');
        int blank = line.indexOf(' ');
        from = Long.parseUnsignedLong(line, 0, dash, 16);
        to = Long.parseUnsignedLong(line, dash + 1, blank, 16);
        released = line.charAt(blank + WRITE_RIGHT) == '-' && isLasting(line);
      } else if (released && line.startsWith("Anonymous:") && line.endsWith(" 0 kB")) {
        // What was written, such as a library's table of addresses, is nowhere else.
        NativeCalls.call(NativeCalls.function("madvise"), from, to - from, NOT_NEEDED, 0, 0, 0);
      }
    }
  }

  /**
   * Whether a file is mapped as long as the process lives. Of others the mapping may be gone, and
   * memory that nothing has a copy of may be in its place, before it is released.
   */
  private static boolean isLasting(String mapping) {
    String path = mapping.substring(Math.max(0, mapping.indexOf('/')));
    return path.startsWith(VIRTUAL_MACHINE) || path.endsWith(".aot") || path.endsWith(".jsa");
  }

  private static void free(long address, long bytes) {
    NativeCalls.call(NativeCalls.function("munmap"), address, bytes, 0, 0, 0, 0);
  }
}

package io.steelyard.kernels.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What the virtual machine's start leaves in memory of files that it maps. */
public final class StartPages {
  private static final long NOT_NEEDED = 4;
  private static final Path MAPPINGS = Path.of("/proc/self/smaps");
  private static final String VIRTUAL_MACHINE = System.getProperty("java.home") + "/lib/";

  /** Where a mapping's rights say whether it is written to, behind the blank before them. */
  private static final int WRITE_RIGHT = 2;

  private StartPages() {}

  /**
   * Gives back what only the start needed of the virtual machine's code and its cache of classes.
   * What is used again comes back from the system's own copy of the files. Where the system doesn't
   * say what is mapped, nothing changes.
   */
  public static void release() {
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
}

package io.steelyard.lab.worker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The operating system's figures for one process, in bytes (Linux).
 *
 * @param resident resident set now ({@code VmRSS})
 * @param peak largest resident set since the start or the last {@link #resetPeak} ({@code VmHWM})
 * @param proportional proportional set size now: pages shared with others count by their share; 0
 *     where the kernel does not tell
 */
public record ProcessMemory(long resident, long peak, long proportional) {

  /** Reads them; takes well under a millisecond for the first two, more for the third. */
  public static ProcessMemory read(long pid) throws IOException {
    String status = read(pid, "status");
    long resident = kilobytes(status, "VmRSS:");
    long peak = kilobytes(status, "VmHWM:");
    Path rollup = file(pid, "smaps_rollup");
    long proportional = Files.isReadable(rollup) ? kilobytes(Files.readString(rollup), "Pss:") : 0;
    return new ProcessMemory(resident, peak, proportional);
  }

  /** The resident set alone. */
  static long resident(long pid) throws IOException {
    return kilobytes(read(pid, "status"), "VmRSS:");
  }

  /**
   * Resident bytes of a file that a process has mapped, or of the files of a folder; pages shared
   * with other processes count in full. What isn't there, as where no model is measured, is none.
   */
  public static long mapped(long pid, Path path) throws IOException {
    if (Files.notExists(path)) {
      return 0;
    }
    Path whole = path.toRealPath();
    long bytes = 0;
    boolean counts = false;
    for (String line : read(pid, "smaps").lines().toList()) {
      int slash = line.indexOf('/');
      if (line.matches("[0-9a-f]+-[0-9a-f]+ .*")) {
        counts = slash >= 0 && Path.of(line.substring(slash)).startsWith(whole);
      } else if (counts && line.startsWith("Rss:")) {
        bytes += kilobytes(line, "Rss:");
      }
    }
    return bytes;
  }

  /** Makes the kernel forget the peak, so that the next one is of what follows. */
  public static void resetPeak(long pid) throws IOException {
    Files.writeString(file(pid, "clear_refs"), "5");
  }

  private static long kilobytes(String text, String name) {
    for (String line : text.lines().toList()) {
      if (line.startsWith(name)) {
        return 1024 * Long.parseLong(line.substring(name.length()).replace("kB", "").strip());
      }
    }
    // A process that has ended but is not yet reaped has no memory lines.
    return 0;
  }

  private static String read(long pid, String name) throws IOException {
    Path file = file(pid, name);
    if (!Files.exists(file)) {
      throw new IOException(
          Files.isDirectory(Path.of("/proc/self"))
              ? "process " + pid + " has ended"
              : "memory figures come from Linux's /proc, which this system does not have");
    }
    return Files.readString(file);
  }

  private static Path file(long pid, String name) {
    return Path.of("/proc", Long.toString(pid), name);
  }
}

package io.steelyard.lab.worker;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Counters of the machine and of one process at a moment (Linux). The difference of two is what
 * happened in between: {@code after.since(before)}.
 *
 * @param stealTicks processor time that the hypervisor gave to others, all processors together
 * @param totalTicks processor time in all, idle time included
 * @param voluntarySwitches times that a thread of the process waited; of threads alive now
 * @param involuntarySwitches times that a thread was put aside for another one
 * @param minorFaults pages mapped without reading a disk
 * @param majorFaults pages read from a disk
 * @param cpuTicks processor time of the process, user and system
 */
public record MachineCounters(
    long stealTicks,
    long totalTicks,
    long voluntarySwitches,
    long involuntarySwitches,
    long minorFaults,
    long majorFaults,
    long cpuTicks) {

  /** Reads them. */
  public static MachineCounters read(long pid) throws IOException {
    Path process = Path.of("/proc", Long.toString(pid));
    if (!Files.isReadable(Path.of("/proc/stat"))) {
      throw new IOException("machine counters come from Linux's /proc, which this system lacks");
    }
    // cpu user nice system idle iowait irq softirq steal guest guest_nice; guests are in user.
    String[] cpu = firstLine(Path.of("/proc/stat")).split("\\s+", -1);
    long total = 0;
    for (int i = 1; i < Math.min(cpu.length, 9); i++) {
      total += Long.parseLong(cpu[i]);
    }
    // The name in parentheses may hold blanks; the fields after it are numbered from the state (3).
    String stat = firstLine(process.resolve("stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    long[] switches = switches(process.resolve("task"));
    return new MachineCounters(
        cpu.length > 8 ? Long.parseLong(cpu[8]) : 0,
        total,
        switches[0],
        switches[1],
        Long.parseLong(fields[7]),
        Long.parseLong(fields[9]),
        Long.parseLong(fields[11]) + Long.parseLong(fields[12]));
  }

  /** What was counted since an earlier moment. */
  public MachineCounters since(MachineCounters earlier) {
    return new MachineCounters(
        stealTicks - earlier.stealTicks,
        totalTicks - earlier.totalTicks,
        // Threads that have ended take their switches with them.
        Math.max(0, voluntarySwitches - earlier.voluntarySwitches),
        Math.max(0, involuntarySwitches - earlier.involuntarySwitches),
        minorFaults - earlier.minorFaults,
        majorFaults - earlier.majorFaults,
        cpuTicks - earlier.cpuTicks);
  }

  /** Share of the machine's processor time that the hypervisor took, 0 to 1. */
  public double stealShare() {
    return totalTicks <= 0 ? 0 : (double) stealTicks / totalTicks;
  }

  private static long[] switches(Path tasks) throws IOException {
    long voluntary = 0;
    long involuntary = 0;
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
      for (Path thread : threads) {
        try {
          for (String line : Files.readAllLines(thread.resolve("status"))) {
            if (line.startsWith("voluntary_ctxt_switches:")) {
              voluntary += number(line);
            } else if (line.startsWith("nonvoluntary_ctxt_switches:")) {
              involuntary += number(line);
            }
          }
        } catch (IOException _) {
          // The thread ended between the listing and the reading: its file is gone, or says so.
        }
      }
    }
    return new long[] {voluntary, involuntary};
  }

  private static long number(String line) {
    return Long.parseLong(line.substring(line.indexOf(':') + 1).strip());
  }

  private static String firstLine(Path file) throws IOException {
    String text = Files.readString(file);
    return text.substring(0, Math.max(0, text.indexOf('\n')));
  }
}

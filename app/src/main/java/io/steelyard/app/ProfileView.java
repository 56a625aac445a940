package io.steelyard.app;

import io.steelyard.engines.steelyard.Profiler;
import io.steelyard.kernels.ProfileFile;
import io.steelyard.kernels.ProfiledKernels;
import io.steelyard.lab.RunException;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.reports.FlameGraph;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What a {@link Profiler} left in its folder, for a person: a table by operator, and a flame graph.
 *
 * @param name of what ran, such as {@code pp512 by steelyard}
 * @param title of the table
 * @param how it ran, under the flame graph's name
 * @param timed whose calls were timed
 */
record ProfileView(String name, String title, String how, ProfileGraph.Timed timed) {
  /** What folders of profiles are called. */
  private static final String FOLDER = "profile";

  /** The file with what the process that was profiled wrote to its stderr, where it is kept. */
  static final String STDERR = "stderr.log";

  private static final String FLAMES = "flame.svg";

  /** What makes a profile in a folder, and prints it. */
  @FunctionalInterface
  interface Use {
    void of(Path folder) throws Exception;
  }

  /**
   * Makes a folder for a profile.
   *
   * @param use where it fails and has written nothing, no folder is left
   */
  static void inFolder(Path runs, Use use) throws Exception {
    DesignOptions.requireRuns(runs);
    Path folder = RunDirectory.newFolder(runs, FOLDER);
    try {
      use.of(folder);
    } finally {
      String[] files = folder.toFile().list();
      if (files != null && files.length == 0) {
        Files.delete(folder);
      }
    }
  }

  /** What was timed. */
  record Timing(long calls, long nanos) {
    String text() {
      return "%s calls in %s".formatted(Format.count(calls), Format.duration(nanos));
    }
  }

  /**
   * Draws the flame graph beside the recording, and prints.
   *
   * @throws RunException if the recording isn't whole, or the flame graph can't be written
   */
  void print(Console console, Path folder, Timing timing) {
    try {
      draw(console, folder, timing);
    } catch (IOException e) {
      throw new RunException(
          "the profile in %s isn't whole (%s): is there room for it?".formatted(folder, e), e);
    }
  }

  private void draw(Console console, Path folder, Timing timing) throws IOException {
    Path operators = folder.resolve(Profiler.OPERATORS);
    Path recording = folder.resolve(Profiler.RECORDING);
    if (Files.notExists(operators) || Files.notExists(recording)) {
      throw new RunException(
          "the worker has left no profile in %s: is there room for it? The worker's %s may say more"
              .formatted(folder, STDERR));
    }
    console.note("Drawing what was recorded");
    FlameGraph graph = ProfileGraph.of(recording, name, timed, timing.nanos());
    Path flames = folder.resolve(FLAMES);
    Files.writeString(
        flames,
        graph.svg(
            "%s, %s: operators and their kernels by time; %s: Java stacks, sampled"
                .formatted(how, timing.text(), ProfileGraph.OUTSIDE)));
    console.result(title + ": " + timing.text());
    console.blank();
    console.table(table(console, ProfileFile.read(operators), timing));
    console.blank();
    List.of(operators, recording, flames).forEach(file -> console.result(file.toString()));
  }

  private static String table(Console console, List<ProfiledKernels.Line> lines, Timing timing) {
    Table table = new Table(console.style());
    table.column("operator", Align.LEFT).column("kernel", Align.LEFT).column("calls", Align.RIGHT);
    table.column("ms", Align.RIGHT).column("share", Align.RIGHT);
    table.column("MB", Align.RIGHT).column("GB/s", Align.RIGHT).column("GMAC/s", Align.RIGHT);
    long outside = timing.nanos();
    for (ProfiledKernels.Line line : lines) {
      outside -= line.nanos();
      table.row(
          line.operator(),
          line.kernel(),
          Format.count(line.calls()),
          millis(line.nanos()),
          share(line.nanos(), timing),
          megabytes(line.bytes()),
          rate(line.bytes(), line.nanos()),
          rate(line.products(), line.nanos()));
    }
    table.row(ProfileGraph.OUTSIDE, "", "", millis(outside), share(outside, timing), "", "", "");
    return table.render();
  }

  private static String millis(long nanos) {
    return Format.decimals(nanos / 1e6, 1);
  }

  private static String share(long nanos, Timing timing) {
    return Format.percent((double) nanos / timing.nanos(), 1);
  }

  private static String megabytes(long bytes) {
    return bytes == 0 ? "–" : Format.significant(bytes / 1e6, 3);
  }

  /** Per nanosecond, which is thousand millions a second. */
  private static String rate(long amount, long nanos) {
    return amount == 0 ? "–" : Format.significant((double) amount / Math.max(1, nanos), 3);
  }
}

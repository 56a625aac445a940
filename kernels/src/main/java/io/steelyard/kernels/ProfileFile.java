package io.steelyard.kernels;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What was measured of operators, as a file of tab-separated values: a line of headings, then one
 * line a kernel, its times in nanoseconds.
 */
public final class ProfileFile {
  private static final String HEADINGS =
      "operator\tkernel\tcalls\tnanos\tbytes\tproducts\tactivations";

  private ProfileFile() {}

  /** Writes what was measured, over a file that may be there. */
  public static void write(Path file, List<ProfiledKernels.Line> lines) throws IOException {
    Files.write(
        file, Stream.concat(Stream.of(HEADINGS), lines.stream().map(ProfileFile::text)).toList());
  }

  /**
   * Reads what was written.
   *
   * @throws IOException if the file can't be read, or is none of these
   */
  public static List<ProfiledKernels.Line> read(Path file) throws IOException {
    List<String> lines = Files.readAllLines(file);
    if (lines.isEmpty() || !lines.getFirst().equals(HEADINGS)) {
      throw new IOException(file + " holds no profile: its first line is not '" + HEADINGS + "'");
    }
    try {
      return lines.stream().skip(1).map(ProfileFile::line).toList();
    } catch (IllegalArgumentException e) {
      throw new IOException(file + " holds no profile: " + e.getMessage(), e);
    }
  }

  private static String text(ProfiledKernels.Line line) {
    return "%s\t%s\t%d\t%d\t%d\t%d\t%d"
        .formatted(
            line.operator(),
            line.kernel(),
            line.calls(),
            line.nanos(),
            line.bytes(),
            line.products(),
            line.activations());
  }

  private static ProfiledKernels.Line line(String text) {
    String[] fields = text.split("\t", -1);
    if (fields.length != 7) {
      throw new IllegalArgumentException("'" + text + "' has not seven fields");
    }
    return new ProfiledKernels.Line(
        fields[0],
        fields[1],
        Long.parseLong(fields[2]),
        Long.parseLong(fields[3]),
        Long.parseLong(fields[4]),
        Long.parseLong(fields[5]),
        Long.parseLong(fields[6]));
  }
}

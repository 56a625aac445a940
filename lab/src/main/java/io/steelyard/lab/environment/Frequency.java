package io.steelyard.lab.environment;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** The processors' clock, where the kernel tells it; virtual machines mostly hide it. */
public final class Frequency {
  private static final Path PROCESSORS = Path.of("/sys/devices/system/cpu");

  private Frequency() {}

  /** Mean of all processors in MHz; 0 where it can't be read. */
  public static double megahertz() {
    return megahertz(PROCESSORS);
  }

  static double megahertz(Path processors) {
    double sum = 0;
    int read = 0;
    try (DirectoryStream<Path> found = Files.newDirectoryStream(processors, "cpu[0-9]*")) {
      for (Path processor : found) {
        Path kilohertz = processor.resolve("cpufreq").resolve("scaling_cur_freq");
        if (Files.isReadable(kilohertz)) {
          sum += Long.parseLong(Files.readString(kilohertz).strip()) / 1e3;
          read++;
        }
      }
    } catch (IOException | NumberFormatException _) {
      return 0; // a driver may know the file and not the value
    }
    return read == 0 ? 0 : sum / read;
  }
}

package io.steelyard.lab.worker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The processors that this process may run on. */
public final class Affinity {
  private static final String FIELD = "Cpus_allowed_list:";

  private Affinity() {}

  /** In the notation of {@code taskset}: {@code 0-1,4}; empty where the system does not tell. */
  public static String current() {
    try {
      return Files.readString(Path.of("/proc/self/status"))
          .lines()
          .filter(line -> line.startsWith(FIELD))
          .map(line -> line.substring(FIELD.length()).strip())
          .findFirst()
          .orElse("");
    } catch (IOException e) {
      return "";
    }
  }
}

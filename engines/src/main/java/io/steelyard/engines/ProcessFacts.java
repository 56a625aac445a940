package io.steelyard.engines;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What the operating system says of this process and its machine; nothing where it says nothing.
 */
public final class ProcessFacts {
  private ProcessFacts() {}

  /**
   * The processors that this process may run on, such as {@code 0-1}; {@code unknown} elsewhere.
   */
  public static String affinity() {
    return field(Path.of("/proc/self/status"), "Cpus_allowed_list:").orElse("unknown");
  }

  /** Bytes that can be allocated without swapping. */
  public static OptionalLong availableMemory() {
    return field(Path.of("/proc/meminfo"), "MemAvailable:")
        .map(text -> OptionalLong.of(Long.parseLong(text.replace(" kB", "")) * 1024))
        .orElse(OptionalLong.empty());
  }

  private static Optional<String> field(Path file, String name) {
    try (var lines = Files.lines(file)) {
      return lines
          .filter(line -> line.startsWith(name))
          .map(line -> line.substring(name.length()).strip())
          .findFirst();
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}

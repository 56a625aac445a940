package io.steelyard.engines;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** What Linux says of this process and its machine; nothing where it says nothing. */
public final class ProcessFacts {
  private ProcessFacts() {}

  /** Bytes that can be allocated without swapping. */
  public static OptionalLong availableMemory() {
    return memory("MemAvailable:");
  }

  /** Bytes that the machine has. */
  public static OptionalLong totalMemory() {
    return memory("MemTotal:");
  }

  private static OptionalLong memory(String name) {
    return field(Path.of("/proc/meminfo"), name)
        .map(text -> OptionalLong.of(Long.parseLong(text.replace(" kB", "")) * 1024))
        .orElse(OptionalLong.empty());
  }

  /** What the processor can do, in Linux's names. */
  public static Set<String> processorFlags() {
    return field(Path.of("/proc/cpuinfo"), "flags")
        .map(text -> Set.copyOf(List.of(text.replaceFirst("^:\\s*", "").split("\\s+"))))
        .orElse(Set.of());
  }

  /**
   * Files mapped into this process whose name starts so.
   *
   * @throws IOException if Linux doesn't say
   */
  public static List<Path> mapped(String prefix) throws IOException {
    try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines
          .filter(line -> line.contains("/" + prefix))
          .map(line -> Path.of(line.substring(line.indexOf('/'))))
          .filter(path -> path.getFileName().toString().startsWith(prefix))
          .distinct()
          .toList();
    }
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

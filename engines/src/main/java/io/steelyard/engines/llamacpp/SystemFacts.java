package io.steelyard.engines.llamacpp;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** What Linux says of this processor and of the files that this process has mapped. */
final class SystemFacts {
  private SystemFacts() {}

  /** What the processor can do, in Linux's names; nothing where Linux doesn't say. */
  static Set<String> processorFlags() {
    try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("flags"))
          .findFirst()
          .map(line -> line.substring(line.indexOf(':') + 1).strip().split("\\s+"))
          .map(flags -> Set.copyOf(List.of(flags)))
          .orElse(Set.of());
    } catch (IOException e) {
      return Set.of();
    }
  }

  /** Files mapped into this process whose name starts so. */
  static List<Path> mapped(String prefix) throws IOException {
    try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines
          .filter(line -> line.contains("/" + prefix))
          .map(line -> Path.of(line.substring(line.indexOf('/'))))
          .filter(path -> path.getFileName().toString().startsWith(prefix))
          .distinct()
          .toList();
    }
  }
}

package io.steelyard.engines.llamacpp;

import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What Linux says of this process and machine. */
final class SystemFacts {
  private SystemFacts() {}

  /** The processors this process may run on, such as {@code 0-1}. */
  static String affinity() {
    return field(Path.of("/proc/self/status"), "Cpus_allowed_list:").orElse("unknown");
  }

  /**
   * Refuses a cache that can't fit: llama.cpp touches its bookkeeping at once, and the kernel would
   * kill the process.
   */
  static void checkMemory(long tokens, long bytesPerToken) throws EngineException {
    Optional<String> field = field(Path.of("/proc/meminfo"), "MemAvailable:");
    if (field.isEmpty()) {
      return;
    }
    double available = Long.parseLong(field.get().replace(" kB", "")) * 1024.0;
    double needed = (double) tokens * bytesPerToken;
    if (needed > available) {
      throw new EngineException(
          Kind.BAD_REQUEST,
          "llamacpp: a KV cache of %d tokens takes about %.1f GB and %.1f GB are free; use a"
                  .formatted(tokens, needed / 1e9, available / 1e9)
              + " shorter --context");
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

  /** What the processor can do, in Linux's names. */
  static Set<String> processorFlags() {
    return field(Path.of("/proc/cpuinfo"), "flags")
        .map(line -> Set.of(line.substring(line.indexOf(':') + 1).strip().split("\\s+")))
        .orElse(Set.of());
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

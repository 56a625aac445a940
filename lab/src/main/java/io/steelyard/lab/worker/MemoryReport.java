package io.steelyard.lab.worker;

import java.util.Map;

/**
 * An engine's own account of its memory; the process's figures come from the operating system.
 *
 * @param parts bytes by part: {@code weights}, {@code kv}, {@code activations}, {@code heap},
 *     {@code other}
 */
public record MemoryReport(Map<String, Long> parts) {
  public static MemoryReport unknown() {
    return new MemoryReport(Map.of());
  }
}

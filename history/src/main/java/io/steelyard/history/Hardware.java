package io.steelyard.history;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What a run was made on. Two runs are on the same hardware when their fingerprints are equal.
 *
 * @param fingerprint SHA-256, in hexadecimal, of the description
 * @param processor the processor's name; empty where not known
 * @param description the {@code hardware} part of an environment
 */
public record Hardware(String fingerprint, String processor, Map<String, Object> description) {
  static final String PART = "hardware";

  /** The hardware that an environment names; empty where it names none. */
  static Optional<Hardware> of(Map<String, Object> environment) {
    if (!(environment.get(PART) instanceof Map<?, ?> part) || part.isEmpty()) {
      return Optional.empty();
    }
    Map<String, Object> description = new LinkedHashMap<>();
    part.forEach((key, value) -> description.put(key.toString(), value));
    // As Environment.fingerprint has it, so that a run, a calibration and this agree.
    String fingerprint = Sha256.of(description.toString().getBytes(StandardCharsets.UTF_8));
    String processor = String.valueOf(description.getOrDefault("processor", ""));
    return Optional.of(new Hardware(fingerprint, processor, description));
  }
}

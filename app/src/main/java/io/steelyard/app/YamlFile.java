package io.steelyard.app;

import io.steelyard.lab.RunException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** YAML files of the user's: every error names the file and the key. */
final class YamlFile {
  private static final long MOST_BYTES = 1 << 20;

  private YamlFile() {}

  /**
   * Reads a file.
   *
   * @param known the keys that it may have
   * @param example one of them with a value
   * @throws UsageException that says what is wrong with it
   */
  static ObjectNode read(Path file, Collection<String> known, String example) {
    JsonNode tree;
    try {
      if (Files.size(file) > MOST_BYTES) {
        throw new UsageException(
            "%s: %d bytes are too many, at most 1 MiB".formatted(file, Files.size(file)));
      }
      tree = new YAMLMapper().readTree(Files.readString(file));
    } catch (IOException e) {
      throw new UsageException("can't read %s: %s".formatted(file, RunException.reason(e)));
    } catch (JacksonException e) {
      throw new UsageException("%s is no YAML: %s".formatted(file, e.getOriginalMessage()));
    }
    if (!(tree instanceof ObjectNode fields)) {
      throw new UsageException("%s holds no keys such as '%s'".formatted(file, example));
    }
    check(file, "", fields, known);
    return fields;
  }

  /**
   * Refuses keys that mean nothing.
   *
   * @param within the key that the fields stand under; empty at the top
   */
  static void check(Path file, String within, ObjectNode fields, Collection<String> known) {
    for (String name : fields.propertyNames()) {
      if (!known.contains(name)) {
        throw new UsageException(
            "%s: '%s' is unknown%s; there are %s"
                .formatted(
                    file,
                    name,
                    within.isEmpty() ? "" : " in '" + within + "'",
                    String.join(", ", known)));
      }
    }
  }
}

package io.steelyard.app;

import io.steelyard.lab.RunException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonPointer;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** YAML files of the user's: every error names the file, the line and the key. */
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
      String where = e.getLocation() == null ? "" : ":" + e.getLocation().getLineNr();
      throw new UsageException(
          "%s%s is no YAML: %s".formatted(file, where, e.getOriginalMessage()));
    }
    if (!(tree instanceof ObjectNode fields)) {
      throw new UsageException("%s holds no keys such as '%s'".formatted(file, example));
    }
    check(file, fields, known);
    return fields;
  }

  /**
   * Refuses keys that mean nothing.
   *
   * @param within the keys that the fields stand under, from the outermost on
   */
  static void check(Path file, ObjectNode fields, Collection<String> known, String... within) {
    for (String name : fields.propertyNames()) {
      if (!known.contains(name)) {
        List<String> path = new ArrayList<>(List.of(within));
        path.add(name);
        throw new UsageException(
            "%s: '%s' is unknown%s; there are %s"
                .formatted(
                    at(file, path.toArray(String[]::new)),
                    name,
                    within.length == 0 ? "" : " in '" + within[within.length - 1] + "'",
                    String.join(", ", known)));
      }
    }
  }

  /**
   * Where a key stands, as errors say it: {@code gate.yaml:3}.
   *
   * @param path the key, after those that it stands under
   */
  static String at(Path file, String... path) {
    JsonPointer wanted = JsonPointer.empty();
    for (String key : path) {
      wanted = wanted.appendProperty(key);
    }
    try (JsonParser parser = new YAMLMapper().createParser(Files.readString(file))) {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        if (token == JsonToken.PROPERTY_NAME
            && parser.streamReadContext().pathAsPointer().equals(wanted)) {
          return file + ":" + parser.currentTokenLocation().getLineNr();
        }
      }
    } catch (IOException | JacksonException e) {
      return file.toString(); // what is told is another error, found when the file was read
    }
    return file.toString();
  }
}

package io.steelyard.lab.record;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.PropertyNamingStrategy;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * How records are written: snake_case, every field present, unknown fields of later versions
 * ignored.
 */
public final class Json {
  private static final PropertyNamingStrategy NAMES = PropertyNamingStrategies.SNAKE_CASE;

  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .propertyNamingStrategy(NAMES)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
          .build();

  private static final JsonMapper PRETTY =
      MAPPER.rebuild().enable(SerializationFeature.INDENT_OUTPUT).build();

  private Json() {}

  /** One line. */
  public static String line(Object value) {
    return MAPPER.writeValueAsString(value);
  }

  /** Indented, for files that people read. */
  public static String pretty(Object value) {
    return PRETTY.writeValueAsString(value);
  }

  /**
   * Reads a record back. An {@link Optional} component may be missing: earlier versions didn't have
   * it.
   *
   * @throws JacksonException if the text is not JSON of that shape
   */
  public static <T> T read(String text, Class<T> type) {
    List<String> optional = optional(type);
    T value;
    if (optional.isEmpty()) {
      value = MAPPER.readValue(text, type);
    } else {
      JsonNode tree = MAPPER.readTree(text);
      if (tree instanceof ObjectNode fields) {
        optional.stream().filter(name -> !fields.has(name)).forEach(fields::putNull);
      }
      value = MAPPER.treeToValue(tree, type);
    }
    if (value == null) {
      throw DatabindException.from((JsonParser) null, "null where a record is expected");
    }
    return value;
  }

  private static List<String> optional(Class<?> type) {
    return type.isRecord()
        ? Arrays.stream(type.getRecordComponents())
            .filter(component -> component.getType() == Optional.class)
            .map(component -> NAMES.nameForField(null, null, component.getName()))
            .toList()
        : List.of();
  }
}

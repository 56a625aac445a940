package io.steelyard.lab.record;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
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
   * Reads a record back. An {@link Optional} component, of records in it too, may be missing:
   * earlier versions didn't have it.
   *
   * @throws JacksonException if the text is not JSON of that shape
   */
  public static <T> T read(String text, Class<T> type) {
    T value;
    if (type.isRecord() || type.isSealed()) {
      JsonNode tree = MAPPER.readTree(text);
      putMissing(tree, type);
      value = MAPPER.treeToValue(tree, type);
    } else {
      value = MAPPER.readValue(text, type);
    }
    if (value == null) {
      throw DatabindException.from((JsonParser) null, "null where a record is expected");
    }
    return value;
  }

  private static void putMissing(JsonNode tree, Class<?> type) {
    if (type.isSealed()) {
      // What isn't its own a record ignores.
      for (Class<?> record : type.getPermittedSubclasses()) {
        putMissing(tree, record);
      }
      return;
    }
    if (!type.isRecord() || !(tree instanceof ObjectNode fields)) {
      return;
    }
    for (RecordComponent component : type.getRecordComponents()) {
      String name = NAMES.nameForField(null, null, component.getName());
      if (component.getGenericType() instanceof ParameterizedType list
          && component.getType() == List.class
          && list.getActualTypeArguments()[0] instanceof Class<?> element) {
        fields.path(name).forEach(one -> putMissing(one, element));
      } else if (fields.has(name)) {
        putMissing(fields.get(name), component.getType());
      } else if (component.getType() == Optional.class) {
        fields.putNull(name);
      }
    }
  }
}

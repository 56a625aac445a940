package io.steelyard.history;

import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Environments as text in a column. */
final class Text {
  /** In ASCII: a database refuses some characters that JSON allows. */
  private static final JsonMapper MAPPER =
      JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  private static final TypeReference<Map<String, Object>> MAP = new TypeReference<>() {};

  private Text() {}

  static String json(Map<String, Object> value) {
    return MAPPER.writeValueAsString(value);
  }

  /** Reads an environment. */
  static Map<String, Object> map(String text) {
    Map<String, Object> map = MAPPER.readValue(text, MAP);
    return map == null ? Map.of() : map;
  }

  /**
   * Reads back what was written into a store.
   *
   * @param place the store it is from
   */
  static Map<String, Object> map(String text, String place) {
    try {
      return map(text);
    } catch (JacksonException e) {
      throw new HistoryException(
          "%s is damaged: the environment of a run is no JSON (%s); add that run again"
              .formatted(place, e.getOriginalMessage()),
          e);
    }
  }
}

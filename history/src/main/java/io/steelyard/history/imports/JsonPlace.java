package io.steelyard.history.imports;

import io.steelyard.history.HistoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.json.JsonMapper;

/** A value in a foreign JSON file that knows where it stands, so that every refusal can say so. */
final class JsonPlace {
  private static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(64)
                          .maxNumberLength(64)
                          .maxNameLength(4_096)
                          .maxStringLength(1 << 20)
                          .maxDocumentLength(Bounds.FILE)
                          .maxTokenCount(4_000_000)
                          .build())
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private static final ObjectReader TREE = MAPPER.readerFor(JsonNode.class);

  private final Path file;
  private final String path;
  private final JsonNode node;

  private JsonPlace(Path file, String path, JsonNode node) {
    this.file = file;
    this.path = path;
    this.node = node;
  }

  /**
   * The one value of a file.
   *
   * @throws HistoryException if it is no JSON, or more of it than is read
   */
  static JsonPlace parse(Path file, byte[] bytes) {
    try {
      JsonNode node = TREE.readValue(bytes);
      if (node == null || node.isMissingNode()) {
        throw new HistoryException(file + " holds no JSON, only white space");
      }
      return new JsonPlace(file, "", node);
    } catch (JacksonException e) {
      throw malformed(file, e);
    }
  }

  /** The values of a file, one after the other; at least one. */
  static List<JsonPlace> sequence(Path file, byte[] bytes) {
    List<JsonPlace> values = new ArrayList<>();
    try (JsonParser parser = MAPPER.createParser(bytes)) {
      while (parser.nextToken() != null) {
        JsonNode node = parser.readValueAsTree();
        values.add(new JsonPlace(file, "value " + (values.size() + 1), node));
        if (values.size() > Bounds.CELLS) {
          throw new HistoryException(
              "%s holds more than %,d values: split it".formatted(file, Bounds.CELLS));
        }
      }
    } catch (JacksonException e) {
      throw malformed(file, e);
    }
    if (values.isEmpty()) {
      throw new HistoryException(file + " holds no JSON, only white space");
    }
    return values;
  }

  private static HistoryException malformed(Path file, JacksonException e) {
    TokenStreamLocation at = e.getLocation();
    String place =
        at == null || at.getLineNr() < 0
            ? ""
            : " line %d, column %d".formatted(at.getLineNr(), at.getColumnNr());
    String why = e.getOriginalMessage().lines().findFirst().orElse("no reason given");
    return new HistoryException(
        e instanceof StreamConstraintsException
            // It goes on to name a setting of the parser's.
            ? "%s%s: it is larger or deeper than what is read: %s"
                .formatted(file, place, why.replaceAll(", from `[^`]*`", ""))
            : "%s%s: it is no whole JSON: %s".formatted(file, place, why),
        e);
  }

  /** The file and the place, for a sentence about it. */
  String place() {
    return path.isEmpty() ? file.toString() : file + ", " + path;
  }

  /** A refusal of what stands here. */
  HistoryException refused(String why) {
    return new HistoryException(place() + ": " + why);
  }

  boolean isArray() {
    return node.isArray();
  }

  boolean isObject() {
    return node.isObject();
  }

  boolean isNumber() {
    return node.isNumber();
  }

  boolean has(String field) {
    return node.hasNonNull(field);
  }

  /** A field's value, which may be null; empty where there is none. */
  Optional<JsonPlace> find(String field) {
    return has(field) ? Optional.of(child(field, node.get(field))) : Optional.empty();
  }

  /** A field's value. */
  JsonPlace get(String field) {
    if (!node.isObject()) {
      throw refused("it is no object with a field '" + field + "'");
    }
    return find(field).orElseThrow(() -> refused("it has no '" + field + "'"));
  }

  private JsonPlace child(String field, JsonNode value) {
    return new JsonPlace(file, path.isEmpty() ? field : path + "." + field, value);
  }

  /**
   * The elements of an array.
   *
   * @param most more than these are refused
   */
  List<JsonPlace> elements(int most) {
    if (!node.isArray()) {
      throw refused("it is no array");
    }
    if (node.size() > most) {
      throw refused("it has %,d elements; at most %,d are read".formatted(node.size(), most));
    }
    List<JsonPlace> elements = new ArrayList<>(node.size());
    for (JsonNode element : node) {
      elements.add(new JsonPlace(file, path + "[" + elements.size() + "]", element));
    }
    return elements;
  }

  /** The elements of an array of at least one. */
  List<JsonPlace> someElements(int most) {
    List<JsonPlace> elements = elements(most);
    if (elements.isEmpty()) {
      throw refused("it is empty: nothing was measured");
    }
    return elements;
  }

  /** The fields of an object, in order. */
  Map<String, JsonPlace> fields() {
    if (!node.isObject()) {
      throw refused("it is no object");
    }
    Map<String, JsonPlace> fields = new LinkedHashMap<>();
    Iterator<Map.Entry<String, JsonNode>> all = node.properties().iterator();
    while (all.hasNext()) {
      Map.Entry<String, JsonNode> field = all.next();
      fields.put(field.getKey(), child(field.getKey(), field.getValue()));
    }
    return fields;
  }

  /** A text, cleaned. */
  String text() {
    if (!node.isString()) {
      throw refused("it is no text");
    }
    return Bounds.clean(place(), node.stringValue());
  }

  /** A field's text; empty where there is none. */
  String textOr(String field, String otherwise) {
    return find(field).map(JsonPlace::text).orElse(otherwise);
  }

  /** A number, a text or a truth value, as text. */
  String scalar() {
    if (node.isContainer() || node.isNull()) {
      throw refused("it is no single value");
    }
    return Bounds.clean(place(), node.asString());
  }

  String scalarOr(String field, String otherwise) {
    return find(field).map(JsonPlace::scalar).orElse(otherwise);
  }

  /** A finite number. */
  double number() {
    if (!node.isNumber()) {
      throw refused("it is no number");
    }
    double value = Double.NaN;
    try {
      value = node.doubleValue();
    } catch (JacksonException _) {
      // Too large for a double, which is said below.
    }
    return Bounds.finite(place(), value);
  }

  /** A finite number that is not negative, as times, rates and counts are. */
  double amount() {
    double value = number();
    if (value < 0) {
      throw refused("%s is negative".formatted(value));
    }
    return value;
  }

  /** A whole number from 0 on. */
  int count() {
    double value = amount();
    if (value != Math.rint(value) || value > Integer.MAX_VALUE) {
      throw refused("it is no count");
    }
    return (int) value;
  }

  /** A field's amount; null where there is none. */
  Double amountOrNull(String field) {
    return find(field).map(JsonPlace::amount).orElse(null);
  }

  /** What stands here as plain maps, lists and values, to be kept as it is. */
  Object plain() {
    return MAPPER.treeToValue(node, Object.class);
  }
}

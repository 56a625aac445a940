package io.steelyard.lab.worker;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;

/**
 * One JSON object a line, read into plain values: {@code Map<String, Object>}, {@code
 * List<Object>}, {@code long[]} and {@code double[]} for arrays of numbers, {@code String}, {@code
 * Long}, {@code Double}, {@code Boolean}. A member that is {@code null} is left out.
 *
 * <p>Built on the streaming parser alone: binding objects by reflection would cost a worker more
 * start-up time than everything else it does before {@code hello}, and arrays of a million ids need
 * no million objects.
 */
final class Json {
  /** The longest line in bytes: a million token ids fit several times. */
  static final int MAX_LINE = 64 << 20;

  private static final int MAX_DEPTH = 16;
  private static final int MAX_NUMBER = 64;
  private static final int MAX_NAME = 256;

  private static final String CUT = "the line ends inside the JSON object";

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(MAX_NUMBER)
                  .maxNameLength(MAX_NAME)
                  .maxStringLength(MAX_LINE)
                  .maxDocumentLength(MAX_LINE)
                  .build())
          .build();

  private Json() {}

  /** Reads a line that holds one object and nothing else. */
  static Map<String, Object> parse(byte[] line) throws WireException {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), line)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new WireException("a line must hold one JSON object");
      }
      Map<String, Object> object = object(parser);
      if (parser.nextToken() != null) {
        throw new WireException("there is more on the line after the JSON object");
      }
      return object;
    } catch (JacksonException e) {
      throw new WireException("not valid JSON: " + firstLine(e.getOriginalMessage()));
    }
  }

  /** Writes one object and a line feed. */
  static byte[] line(Body body) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (JsonGenerator out = FACTORY.createGenerator(ObjectWriteContext.empty(), bytes)) {
      out.writeStartObject();
      body.write(out);
      out.writeEndObject();
    }
    bytes.write('\n');
    return bytes.toByteArray();
  }

  /** Writes the members of an object. */
  @FunctionalInterface
  interface Body {
    void write(JsonGenerator out);
  }

  private static Map<String, Object> object(JsonParser parser) throws WireException {
    Map<String, Object> object = new LinkedHashMap<>();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      if (parser.nextToken() != JsonToken.VALUE_NULL) {
        object.put(name, value(parser));
      }
    }
    return object;
  }

  private static Object value(JsonParser parser) throws WireException {
    JsonToken token = parser.currentToken();
    if (token == null) {
      throw new WireException(CUT);
    }
    // Not with a case for null: such a switch is linked when it first runs, 10 ms of every start.
    return switch (token) {
      case START_OBJECT -> object(parser);
      case START_ARRAY -> array(parser);
      case VALUE_STRING -> parser.getString();
      case VALUE_NUMBER_INT -> integer(parser);
      case VALUE_NUMBER_FLOAT -> real(parser);
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> throw new WireException("an array may not hold null");
      default -> throw new WireException(CUT);
    };
  }

  private static Object array(JsonParser parser) throws WireException {
    JsonToken first = parser.nextToken();
    return isNumber(first) ? numbers(parser) : list(parser, new ArrayList<>());
  }

  /** What is left of an array, of any kind of values. */
  private static List<Object> list(JsonParser parser, List<Object> list) throws WireException {
    for (JsonToken token = parser.currentToken();
        token != JsonToken.END_ARRAY;
        token = parser.nextToken()) {
      list.add(value(parser));
    }
    return list;
  }

  /** An array that begins with numbers: integers stay exact until a fraction or exponent comes. */
  private static Object numbers(JsonParser parser) throws WireException {
    long[] integers = new long[16];
    int count = 0;
    JsonToken token = parser.currentToken();
    for (; token == JsonToken.VALUE_NUMBER_INT; token = parser.nextToken()) {
      if (count == integers.length) {
        integers = Arrays.copyOf(integers, 2 * count);
      }
      integers[count++] = integer(parser);
    }
    if (token == JsonToken.END_ARRAY) {
      return Arrays.copyOf(integers, count);
    }
    double[] reals = Arrays.stream(integers).asDoubleStream().toArray();
    for (; isNumber(token); token = parser.nextToken()) {
      if (count == reals.length) {
        reals = Arrays.copyOf(reals, 2 * count);
      }
      reals[count++] = real(parser);
    }
    reals = Arrays.copyOf(reals, count);
    if (token == JsonToken.END_ARRAY) {
      return reals;
    }
    return list(parser, new ArrayList<>(Arrays.stream(reals).boxed().toList()));
  }

  private static boolean isNumber(JsonToken token) {
    return token == JsonToken.VALUE_NUMBER_INT || token == JsonToken.VALUE_NUMBER_FLOAT;
  }

  private static long integer(JsonParser parser) throws WireException {
    if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
      throw new WireException("the number " + parser.getString() + " does not fit 64 bits");
    }
    return parser.getLongValue();
  }

  private static double real(JsonParser parser) throws WireException {
    double value = parser.getDoubleValue();
    if (!Double.isFinite(value)) {
      throw new WireException("the number " + parser.getString() + " is too large");
    }
    return value;
  }

  private static String firstLine(String text) {
    int end = text.indexOf('\n');
    return end < 0 ? text : text.substring(0, end);
  }
}

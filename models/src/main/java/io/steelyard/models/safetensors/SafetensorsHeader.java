package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import io.steelyard.models.NearMatch;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads the header of a safetensors file: eight bytes of length, then one JSON object that gives
 * each tensor's type, shape and place. Nothing in it is believed. It is read as a stream, so that
 * memory stays in proportion to the header, and every byte of data must belong to exactly one
 * tensor, which is what the format asks for.
 */
final class SafetensorsHeader {
  /** The format's own limit. */
  private static final long MOST_HEADER = 100_000_000;

  private static final int MOST_DIMENSIONS = 8;
  private static final String METADATA = "__metadata__";

  private static final JsonFactory JSON =
      JsonFactory.builder()
          .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(8).build())
          .build();
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private record Entry(String name, ElementType type, long[] shape, long begin, long end) {}

  private final String source;
  private final MemorySegment file;
  private final List<Entry> entries = new ArrayList<>();
  private final Set<String> names = new HashSet<>();

  private SafetensorsHeader(String source, MemorySegment file) {
    this.source = source;
    this.file = file;
  }

  /**
   * The tensors of a file in the order of its header.
   *
   * @param source what messages call the file
   * @param file all of it
   * @throws ModelException if the header is damaged or doesn't describe the bytes after it
   */
  static List<StoredTensor> read(String source, MemorySegment file) {
    return new SafetensorsHeader(source, file).read();
  }

  private List<StoredTensor> read() {
    if (file.byteSize() < Long.BYTES) {
      throw corrupt("it has only %d bytes".formatted(file.byteSize()));
    }
    long length = file.get(LONG, 0);
    long left = file.byteSize() - Long.BYTES;
    if (length < 2 || length > MOST_HEADER || length > left) {
      throw corrupt(
          "it claims a header of %s bytes, where %d follow and a header has at most %d"
              .formatted(Long.toUnsignedString(length), left, MOST_HEADER));
    }
    byte[] header = file.asSlice(Long.BYTES, length).toArray(ValueLayout.JAVA_BYTE);
    if (header[0] != '{') {
      throw new ModelException(
          "%s is not a safetensors file: its header is no JSON object".formatted(source));
    }
    try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), header)) {
      readObject(parser);
    } catch (JacksonException e) {
      throw corrupt("its header is no valid JSON: " + printable(e.getOriginalMessage()));
    }
    MemorySegment data = file.asSlice(Long.BYTES + length);
    checkPlaces(data.byteSize());
    return entries.stream()
        .map(
            entry ->
                new StoredTensor(
                    entry.name(),
                    entry.type(),
                    entry.shape(),
                    data.asSlice(entry.begin(), entry.end() - entry.begin())))
        .toList();
  }

  private void readObject(JsonParser parser) {
    parser.nextToken();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      if (!names.add(name)) {
        throw corrupt("'%s' appears twice".formatted(printable(name)));
      }
      JsonToken value = parser.nextToken();
      if (value != JsonToken.START_OBJECT) {
        throw corrupt("'%s' is no object".formatted(printable(name)));
      }
      if (name.equals(METADATA)) {
        parser.skipChildren();
      } else {
        entries.add(readTensor(parser, name));
      }
    }
    if (parser.nextToken() != null) {
      throw corrupt("something follows the object in its header");
    }
  }

  private Entry readTensor(JsonParser parser, String name) {
    String typeName = null;
    long[] shape = null;
    long[] offsets = null;
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String key = parser.currentName();
      JsonToken value = parser.nextToken();
      switch (key) {
        case "dtype" -> {
          if (value != JsonToken.VALUE_STRING) {
            throw corrupt("the type of tensor '%s' is no text".formatted(printable(name)));
          }
          typeName = parser.getString();
        }
        case "shape" -> shape = integers(parser, name, "shape", MOST_DIMENSIONS);
        case "data_offsets" -> offsets = integers(parser, name, "place", 2);
        default ->
            throw corrupt(
                "tensor '%s' has the unknown property '%s'"
                    .formatted(printable(name), printable(key)));
      }
    }
    if (typeName == null || shape == null || offsets == null || offsets.length != 2) {
      throw corrupt("tensor '%s' lacks a type, a shape or two offsets".formatted(printable(name)));
    }
    return new Entry(name, type(name, typeName), shape, offsets[0], offsets[1]);
  }

  private ElementType type(String tensor, String name) {
    return ElementType.named(name)
        .orElseThrow(
            () ->
                new ModelException(
                    "%s: tensor '%s' has type %s, which Steelyard doesn't read; nearest to it are %s of those it reads: %s"
                        .formatted(
                            source,
                            printable(tensor),
                            printable(name),
                            String.join(", ", NearMatch.nearest(name, ElementType.names())),
                            String.join(", ", ElementType.names()))));
  }

  private long[] integers(JsonParser parser, String tensor, String what, int most) {
    long[] values = new long[most];
    int count = 0;
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw corrupt("the %s of tensor '%s' is no list".formatted(what, printable(tensor)));
    }
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT || count == most) {
        throw corrupt(
            "the %s of tensor '%s' is no list of at most %d whole numbers"
                .formatted(what, printable(tensor), most));
      }
      values[count] = parser.getLongValue();
      if (values[count] < 0) {
        throw corrupt(
            "the %s of tensor '%s' has %d in it".formatted(what, printable(tensor), values[count]));
      }
      count++;
    }
    return Arrays.copyOf(values, count);
  }

  /** Tensors lie one after the other without gaps, from the first byte of data to the last. */
  private void checkPlaces(long dataBytes) {
    List<Entry> sorted = new ArrayList<>(entries);
    sorted.sort(Comparator.comparingLong(Entry::begin).thenComparingLong(Entry::end));
    long end = 0;
    String previous = "";
    for (Entry entry : sorted) {
      long bytes = bytes(entry);
      if (entry.end() > dataBytes || entry.end() < entry.begin()) {
        throw corrupt(
            "tensor '%s' lies at %d to %d of %d bytes of data"
                .formatted(printable(entry.name()), entry.begin(), entry.end(), dataBytes));
      }
      if (entry.end() - entry.begin() != bytes) {
        throw corrupt(
            "tensor '%s' has %d bytes where its type and shape need %d"
                .formatted(printable(entry.name()), entry.end() - entry.begin(), bytes));
      }
      if (entry.begin() < end) {
        throw corrupt(
            "tensors '%s' and '%s' overlap"
                .formatted(printable(previous), printable(entry.name())));
      }
      if (entry.begin() > end) {
        throw corrupt(
            "no tensor owns the bytes from %d to %d of its data".formatted(end, entry.begin()));
      }
      end = entry.end();
      previous = entry.name();
    }
    if (end != dataBytes) {
      throw corrupt("no tensor owns the bytes from %d to %d of its data".formatted(end, dataBytes));
    }
  }

  private long bytes(Entry entry) {
    try {
      long bytes = entry.type().bytes();
      for (long size : entry.shape()) {
        bytes = Math.multiplyExact(bytes, size);
      }
      return bytes;
    } catch (ArithmeticException e) {
      throw corrupt(
          "the shape of tensor '%s' is beyond any size".formatted(printable(entry.name())));
    }
  }

  private ModelException corrupt(String what) {
    return new ModelException(
        "%s is damaged or incomplete: %s; fetch it again".formatted(source, what));
  }
}

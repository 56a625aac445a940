package io.steelyard.models.gguf;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.kernels.DataType;
import io.steelyard.models.ModelException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads everything before the tensor data. Nothing in the file is believed: each count and length
 * is held against the bytes that are left before anything is allocated for it.
 */
final class HeaderReader {
  static final int MAGIC = 0x46554747; // "GGUF", little-endian
  static final int DEFAULT_ALIGNMENT = 32;
  static final String ALIGNMENT_KEY = "general.alignment";

  private static final int OLDEST_VERSION = 2;
  private static final int NEWEST_VERSION = 3;
  private static final int MOST_DIMENSIONS = 4;
  private static final int DEEPEST_ARRAY = 4;

  /** A buffer can't be quite 2 GiB long, and no header is near it. */
  private static final long MOST_HEADER = 1L << 30;

  // An empty key with a value of one byte; a tensor with an empty name and no dimension.
  private static final int LEAST_ENTRY = 8 + 4 + 1;
  private static final int LEAST_TENSOR = 8 + 4 + 4 + 8;

  /**
   * A tensor as the header describes it.
   *
   * @param columns values in a row
   * @param rows product of all other dimensions
   * @param dimensions all of them, the contiguous one first; none for a single value
   * @param offset first byte, from the start of the file
   * @param bytes size of the data
   */
  record Description(
      String name,
      DataType type,
      long columns,
      long rows,
      long[] dimensions,
      long offset,
      long bytes) {}

  /**
   * A header.
   *
   * @param dataStart first byte of the tensor data
   */
  record Header(int version, Metadata metadata, long dataStart, List<Description> tensors) {}

  private final String source;
  private final long fileSize;
  private final ByteBuffer in;

  HeaderReader(String source, MemorySegment file) {
    this.source = source;
    this.fileSize = file.byteSize();
    this.in =
        file.asSlice(0, Math.min(fileSize, MOST_HEADER))
            .asByteBuffer()
            .order(ByteOrder.LITTLE_ENDIAN);
  }

  Header read() {
    int version = readVersion();
    need(16, "the numbers of tensors and metadata entries in", "its header");
    long tensors = count(in.getLong(), LEAST_TENSOR, "tensors");
    long entries = count(in.getLong(), LEAST_ENTRY, "metadata entries");
    Metadata metadata = readMetadata(entries);
    int alignment = alignment(metadata);
    List<Raw> raw = readTensors(tensors);
    // Rounding up can't overflow: the position is an int, the alignment too.
    long dataStart = -Math.floorDiv(-(long) in.position(), (long) alignment) * alignment;
    return new Header(version, metadata, dataStart, describe(raw, dataStart, alignment));
  }

  private int readVersion() {
    if (fileSize < 8) {
      throw corrupt("it has only %d bytes".formatted(fileSize));
    }
    if (in.getInt() != MAGIC) {
      byte[] start = new byte[(int) Math.min(16, fileSize)];
      in.get(0, start);
      throw new ModelException(
          "%s is not a GGUF file: it begins with '%s' instead of 'GGUF'; give a .gguf model"
              .formatted(source, printable(start)));
    }
    int version = in.getInt();
    if ((version & 0xFFFF) == 0 && version != 0) {
      throw new ModelException(
          "%s is a big-endian GGUF file; Steelyard reads little-endian ones: convert it with gguf-py's gguf_convert_endian.py"
              .formatted(source));
    }
    if (version < OLDEST_VERSION || version > NEWEST_VERSION) {
      throw new ModelException(
          "%s has GGUF version %s; Steelyard reads versions %d to %d: convert the model again with a current converter"
              .formatted(
                  source, Integer.toUnsignedString(version), OLDEST_VERSION, NEWEST_VERSION));
    }
    return version;
  }

  private Metadata readMetadata(long entries) {
    Map<String, Value> values = new LinkedHashMap<>();
    for (long i = 0; i < entries; i++) {
      String key = readString("the name of metadata entry", i);
      need(4, "the type of metadata key", key);
      Value value = readValue(readType(key), key);
      if (values.put(key, value) != null) {
        throw corrupt("metadata key '%s' appears twice".formatted(printable(key)));
      }
    }
    return new Metadata(source, values);
  }

  private ValueType readType(String key) {
    int id = in.getInt();
    Optional<ValueType> type = ValueType.ofId(id);
    if (type.isEmpty()) {
      throw corrupt(
          "metadata key '%s' has the unknown value type %s"
              .formatted(printable(key), Integer.toUnsignedString(id)));
    }
    return type.get();
  }

  private Value readValue(ValueType type, String key) {
    need(type.leastBytes(), "the value of metadata key", key);
    Object content =
        switch (type) {
          case FLOAT32 -> in.getFloat();
          case FLOAT64 -> in.getDouble();
          case BOOL -> in.get() != 0;
          case STRING -> readString("the value of metadata key", key);
          case ARRAY -> readArray(key);
          case UINT8, INT8, UINT16, INT16, UINT32, INT32, UINT64, INT64 ->
              Elements.integer(type, in);
        };
    return new Value(type, content);
  }

  private Elements readArray(String key) {
    ValueType type = readType(key);
    int count = arrayCount(type, key);
    int start = in.position();
    skip(type, count, key, 1);
    byte[] bytes = new byte[in.position() - start];
    in.get(start, bytes);
    return new Elements(type, count, bytes);
  }

  /** Moves past array elements, checking each length, so that decoding can't fail later. */
  private void skip(ValueType type, int count, String key, int depth) {
    if (type.fixedSize()) {
      in.position(in.position() + count * type.leastBytes());
      return;
    }
    if (type == ValueType.ARRAY && depth == DEEPEST_ARRAY) {
      throw corrupt(
          "metadata key '%s' nests arrays more than %d deep"
              .formatted(printable(key), DEEPEST_ARRAY));
    }
    for (int i = 0; i < count; i++) {
      if (type == ValueType.ARRAY) {
        need(type.leastBytes(), "an inner array of metadata key", key);
        ValueType inner = readType(key);
        skip(inner, arrayCount(inner, key), key, depth + 1);
      } else {
        need(8, "a string of metadata key", key);
        long length = in.getLong();
        need(length, "a string of metadata key", key);
        in.position(in.position() + (int) length);
      }
    }
  }

  private int arrayCount(ValueType type, String key) {
    long count = in.getLong();
    // Compared by division: the product could overflow.
    if (count < 0 || count > in.remaining() / type.leastBytes()) {
      throw corrupt(
          "metadata key '%s' claims an array of %s elements at byte %d, where %d bytes are left"
              .formatted(
                  printable(key),
                  Long.toUnsignedString(count),
                  in.position(),
                  fileSize - in.position()));
    }
    return (int) count;
  }

  private int alignment(Metadata metadata) {
    long alignment = metadata.integer(ALIGNMENT_KEY, DEFAULT_ALIGNMENT);
    if (alignment < 1 || alignment > 1 << 30 || Long.bitCount(alignment) != 1) {
      throw corrupt("%s is %d, which is no power of two".formatted(ALIGNMENT_KEY, alignment));
    }
    return (int) alignment;
  }

  private record Raw(String name, long[] dimensions, int typeId, long offset) {}

  private List<Raw> readTensors(long count) {
    List<Raw> tensors = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (long i = 0; i < count; i++) {
      String name = readString("the name of tensor", i);
      if (!names.add(name)) {
        throw corrupt("tensor '%s' appears twice".formatted(printable(name)));
      }
      need(4, "the shape of tensor", name);
      int rank = in.getInt();
      if (rank < 0 || rank > MOST_DIMENSIONS) {
        throw corrupt(
            "tensor '%s' claims %s dimensions where GGUF has at most %d"
                .formatted(printable(name), Integer.toUnsignedString(rank), MOST_DIMENSIONS));
      }
      need(8L * rank + 4 + 8, "the shape of tensor", name);
      long[] dimensions = new long[rank];
      for (int d = 0; d < rank; d++) {
        dimensions[d] = in.getLong();
      }
      tensors.add(new Raw(name, dimensions, in.getInt(), in.getLong()));
    }
    return tensors;
  }

  private List<Description> describe(List<Raw> tensors, long dataStart, int alignment) {
    List<Description> descriptions = new ArrayList<>(tensors.size());
    for (Raw raw : tensors) {
      descriptions.add(describe(raw, dataStart, alignment));
    }
    refuseOverlaps(descriptions);
    return descriptions;
  }

  private Description describe(Raw raw, long dataStart, int alignment) {
    String name = raw.name();
    DataType type = DataType.ofId(raw.typeId()).orElseThrow(() -> unsupported(name, raw.typeId()));
    long columns = 1;
    long rows = 1;
    long bytes;
    try {
      for (int d = 0; d < raw.dimensions().length; d++) {
        long size = raw.dimensions()[d];
        if (size < 1) {
          throw corrupt(
              "dimension %d of tensor '%s' is %s"
                  .formatted(d, printable(name), Long.toUnsignedString(size)));
        }
        if (d == 0) {
          columns = size;
        } else {
          rows = Math.multiplyExact(rows, size);
        }
      }
      if (columns % type.blockSize() != 0) {
        throw corrupt(
            "tensor '%s' has rows of %d values, no multiple of the %d values in a block of %s"
                .formatted(printable(name), columns, type.blockSize(), type));
      }
      bytes = Math.multiplyExact(rows, type.bytes(columns));
    } catch (ArithmeticException e) {
      throw corrupt("the shape of tensor '%s' is beyond any size".formatted(printable(name)));
    }
    long offset = raw.offset();
    if (offset % alignment != 0) {
      throw corrupt(
          "tensor '%s' begins at offset %s, which is not aligned to %d bytes"
              .formatted(printable(name), Long.toUnsignedString(offset), alignment));
    }
    if (offset < 0
        || dataStart > fileSize
        || offset > fileSize - dataStart
        || bytes > fileSize - dataStart - offset) {
      throw corrupt(
          "tensor '%s' needs %d bytes from offset %s of the data at byte %d, past the file's end at %d"
              .formatted(
                  printable(name), bytes, Long.toUnsignedString(offset), dataStart, fileSize));
    }
    return new Description(
        raw.name(), type, columns, rows, raw.dimensions(), dataStart + offset, bytes);
  }

  /** Tensors that share bytes would let a small file describe a model of any size. */
  private void refuseOverlaps(List<Description> tensors) {
    List<Description> sorted = new ArrayList<>(tensors);
    sorted.sort((a, b) -> Long.compare(a.offset(), b.offset()));
    for (int i = 1; i < sorted.size(); i++) {
      Description previous = sorted.get(i - 1);
      if (sorted.get(i).offset() < previous.offset() + previous.bytes()) {
        throw corrupt(
            "tensors '%s' and '%s' overlap"
                .formatted(printable(previous.name()), printable(sorted.get(i).name())));
      }
    }
  }

  private String readString(String what, Object which) {
    need(8, what, which);
    long length = in.getLong();
    need(length, what, which);
    byte[] bytes = new byte[(int) length];
    in.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private long count(long count, int leastBytes, String what) {
    if (count < 0 || count > fileSize / leastBytes) {
      throw corrupt(
          "it claims %s %s, more than its %d bytes can hold"
              .formatted(Long.toUnsignedString(count), what, fileSize));
    }
    return count;
  }

  /** Makes sure of bytes to read. Messages are put together in the rare case alone. */
  private void need(long bytes, String what, Object which) {
    if (bytes < 0 || bytes > in.remaining()) {
      throw tooShort(bytes, "%s '%s'".formatted(what, printable(which.toString())));
    }
  }

  private ModelException tooShort(long bytes, String what) {
    long left = fileSize - in.position();
    if (bytes >= 0 && bytes <= left) {
      return new ModelException(
          "%s has more than 2 GiB of metadata, which Steelyard doesn't read".formatted(source));
    }
    return corrupt(
        "%s at byte %d needs %s bytes, where %d are left"
            .formatted(what, in.position(), Long.toUnsignedString(bytes), left));
  }

  private ModelException corrupt(String what) {
    return new ModelException(
        "%s is damaged or incomplete: %s; fetch or convert the model again"
            .formatted(source, what));
  }

  private ModelException unsupported(String tensor, int typeId) {
    return new ModelException(
        "%s: tensor '%s' has type %s, which Steelyard doesn't read;%s it reads %s"
            .formatted(
                source,
                printable(tensor),
                GgmlTypes.name(typeId),
                GgmlTypes.nearest(typeId),
                DataType.names()));
  }
}

package io.steelyard.models.safetensors;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.codec.Encoder;
import io.steelyard.models.gguf.GgufWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.LongStream;

/**
 * A tensor of a checkpoint as GGUF has it.
 *
 * @param name in GGUF
 * @param type element type there
 * @param dimensions sizes, the contiguous one first
 * @param source its rows
 */
record ConvertedTensor(String name, DataType type, long[] dimensions, RowSource source)
    implements GgufWriter.Content {

  private static final int PART_BYTES = 1 << 20;

  /** Bytes of all values. */
  long bytes() {
    return Math.multiplyExact(source.rows(), type.bytes(source.columns()));
  }

  /** Number of values. */
  long values() {
    return source.rows() * source.columns();
  }

  /** The tensor: where it lies if nothing has to change, else converted into the arena. */
  Tensor in(Arena arena) {
    return new Tensor(name, type, source.columns(), source.rows(), data(arena));
  }

  private MemorySegment data(Arena arena) {
    if (keepsBits() && source.whole().isPresent()) {
      return source.whole().get();
    }
    MemorySegment data = arena.allocate(bytes(), Float.BYTES);
    long part = Math.ceilDiv(PART_BYTES, type.blockBytes()) * (long) type.blockBytes();
    LongStream.range(0, Math.ceilDiv(bytes(), part))
        .parallel()
        .forEach(
            i -> {
              long from = i * part;
              fill(from, data.asSlice(from, Math.min(part, bytes() - from)));
            });
    return data;
  }

  private boolean keepsBits() {
    return source.type().isDataType() && source.type().dataType() == type;
  }

  @Override
  public void fill(long from, MemorySegment part) {
    long first = from / type.blockBytes() * type.blockSize();
    long count = part.byteSize() / type.blockBytes() * type.blockSize();
    long columns = source.columns();
    long firstRow = first / columns;
    int rows = Math.toIntExact(Math.ceilDiv(first + count, columns) - firstRow);
    int elementBytes = source.type().bytes();
    // A part may begin and end within rows: whole ones are copied, and what it holds is encoded.
    MemorySegment stored =
        MemorySegment.ofArray(new byte[Math.toIntExact(rows * source.rowBytes())]);
    source.copy(firstRow, rows, stored);
    MemorySegment wanted =
        stored.asSlice((first - firstRow * columns) * elementBytes, count * elementBytes);
    if (keepsBits()) {
      part.copyFrom(wanted);
      return;
    }
    float[] values = new float[Math.toIntExact(count)];
    source.type().decode(wanted, values, values.length);
    Encoder.encode(type, values, 0, values.length, part, 0);
  }
}

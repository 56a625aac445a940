package io.steelyard.kernels;

import io.steelyard.kernels.DataType.Scaling;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A matrix or vector of weights as it lies in a file.
 *
 * @param name the tensor's name in the file
 * @param type element type
 * @param columns values in a row, the contiguous dimension
 * @param rows number of rows; 1 for a vector
 * @param data exactly {@code rows} rows of {@code type.bytes(columns)} bytes, usually mapped
 * @param scales what lies beside the blocks, as {@link DataType#scaling} says: float32, empty where
 *     there is nothing
 */
public record Tensor(
    String name, DataType type, long columns, long rows, MemorySegment data, MemorySegment scales) {
  /** Blocks that share one of the scales of {@link Scaling#NESTED}. */
  public static final int NESTED_BLOCKS = 256;

  /** The scales of a tensor that has none. */
  public static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  public Tensor {
    if (columns < 1 || rows < 1) {
      throw new IllegalArgumentException("tensor " + name + " is empty");
    }
    long bytes = Math.multiplyExact(rows, type.bytes(columns));
    if (data.byteSize() != bytes) {
      throw new IllegalArgumentException(
          "tensor " + name + " has " + data.byteSize() + " bytes where its shape needs " + bytes);
    }
    if (scales.byteSize() % Float.BYTES != 0
        || !fits(type, columns, rows, scales.byteSize() / Float.BYTES)) {
      throw new IllegalArgumentException(
          "tensor %s of %d × %d values of %s can't have %d bytes of scales beside it"
              .formatted(name, rows, columns, type, scales.byteSize()));
    }
  }

  /** A tensor that has nothing beside its blocks. */
  public Tensor(String name, DataType type, long columns, long rows, MemorySegment data) {
    this(name, type, columns, rows, data, NOTHING);
  }

  /** Whether a tensor of this type and shape may have so many floats beside it. */
  public static boolean fits(DataType type, long columns, long rows, long scales) {
    return switch (type.scaling()) {
      case NONE -> scales == 0;
      case MAY_HAVE_SCALES -> scales == 0 || rows % scales == 0;
      case SCALES -> type == DataType.INT8_ROW ? scales == rows : scales > 0 && rows % scales == 0;
      case NESTED -> scales == 1 + nested(rows * (columns / type.blockSize()));
    };
  }

  /** Scales of {@link Scaling#NESTED} that so many blocks have. */
  public static long nested(long blocks) {
    return Math.ceilDiv(blocks, NESTED_BLOCKS);
  }

  /** Bytes of one row. */
  public long rowBytes() {
    return type.bytes(columns);
  }

  /** Bytes of all that the tensor consists of. */
  public long bytes() {
    return data.byteSize() + scales.byteSize();
  }

  /** What a row is multiplied with: 1 where there are no scales of rows. */
  public float scale(long row) {
    return type.scaling() == Scaling.NESTED || scales.byteSize() == 0
        ? 1
        : beside(row / (rows / (scales.byteSize() / Float.BYTES)));
  }

  /** One of the floats beside the blocks. */
  public float beside(long index) {
    return scales.getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, index);
  }

  /**
   * Consecutive rows as a tensor of their own.
   *
   * @throws IllegalArgumentException if scales are shared across their ends
   */
  public Tensor slice(String name, long from, long count) {
    return new Tensor(
        name,
        type,
        columns,
        count,
        data.asSlice(from * rowBytes(), count * rowBytes()),
        scales(from, count));
  }

  private MemorySegment scales(long from, long count) {
    long floats = scales.byteSize() / Float.BYTES;
    if (type.scaling() == Scaling.NESTED) {
      long blocks = columns / type.blockSize();
      requireUnshared(from * blocks % NESTED_BLOCKS == 0);
      MemorySegment copy =
          Arena.ofAuto().allocate(ValueLayout.JAVA_FLOAT, 1 + nested(count * blocks));
      copy.setAtIndex(ValueLayout.JAVA_FLOAT, 0, beside(0));
      long first = Float.BYTES * (1 + from * blocks / NESTED_BLOCKS);
      MemorySegment.copy(scales, first, copy, Float.BYTES, copy.byteSize() - Float.BYTES);
      return copy;
    }
    if (floats <= 1) {
      return scales;
    }
    long shared = rows / floats;
    requireUnshared(
        from % shared == 0
            && (count % shared == 0 || from / shared == (from + count - 1) / shared));
    return scales.asSlice(from / shared * Float.BYTES, Math.ceilDiv(count, shared) * Float.BYTES);
  }

  private void requireUnshared(boolean unshared) {
    if (!unshared) {
      throw new IllegalArgumentException(
          "rows of " + name + " that share scales can't be taken apart");
    }
  }
}

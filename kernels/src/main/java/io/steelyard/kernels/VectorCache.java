package io.steelyard.kernels;

import static io.steelyard.kernels.Lanes.BYTES;
import static io.steelyard.kernels.Lanes.COUNT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/**
 * The vector tier's keys and values. Keys lie as [head][group][dimension][16 positions], so that a
 * query meets 16 positions without a sum across lanes; values as [head][position][dimension, padded
 * to a multiple of 16], so that they are added up whole vectors at a time. With q8_0 the float32
 * scales of 32 values lie behind each group of keys, and behind each position's values.
 */
final class VectorCache implements KeyValues {
  /** Positions in a group of keys, and what values' rows are padded to: the widest vector. */
  static final int GROUP = 16;

  private static final int BLOCK = DataType.Q8_0.blockSize();

  private final Shape shape;
  private final DataType type;
  private final int padded;
  private final int scales;
  private final long groupBytes;
  private final long rowBytes;
  private final long headKeys;
  private final long headValues;
  private final MemorySegment memory;
  private final long keys;
  private final long values;

  VectorCache(Arena arena, Shape shape) {
    this.shape = shape;
    type = shape.type();
    padded = roundUp(shape.dimension());
    scales = type == DataType.Q8_0 ? shape.dimension() / BLOCK : 0;
    groupBytes = GROUP * ((long) shape.dimension() * elementBytes() + 4L * scales);
    rowBytes = (long) padded * elementBytes() + 4L * scales;
    long positions = roundUp(shape.capacity());
    headKeys = positions / GROUP * groupBytes;
    headValues = positions * rowBytes;
    memory = arena.allocate(shape.heads() * (headKeys + headValues), Rows.ALIGNMENT);
    keys = memory.address();
    values = keys + shape.heads() * headKeys;
  }

  static int roundUp(int count) {
    return (count + GROUP - 1) / GROUP * GROUP;
  }

  private int elementBytes() {
    return type == DataType.Q8_0 ? 1 : type.blockBytes();
  }

  @Override
  public Shape shape() {
    return shape;
  }

  @Override
  public long bytes() {
    return memory.byteSize();
  }

  @Override
  public void copy(KeyValues from, int positions) {
    VectorCache other = (VectorCache) from;
    for (int head = 0; head < shape.heads(); head++) {
      RawMemory.copy(other.group(head, 0), group(head, 0), roundUp(positions) / GROUP * groupBytes);
      RawMemory.copy(other.row(head, 0), row(head, 0), positions * rowBytes);
    }
  }

  /** A head's dimension, padded: the width of a row of values. */
  int padded() {
    return padded;
  }

  private long group(int head, int group) {
    return keys + head * headKeys + group * groupBytes;
  }

  private long row(int head, int position) {
    return values + head * headValues + position * rowBytes;
  }

  void store(int position, long keyRow, long valueRow) {
    int bytes = elementBytes();
    for (int head = 0; head < shape.heads(); head++) {
      long from = 4L * head * shape.dimension();
      long group = group(head, position / GROUP);
      int inGroup = position % GROUP;
      long row = row(head, position);
      store(
          keyRow + from,
          group + (long) inGroup * bytes,
          GROUP * bytes,
          group + (long) GROUP * shape.dimension() * bytes + 4L * inGroup,
          4L * GROUP);
      store(valueRow + from, row, bytes, row + (long) padded * bytes, 4);
    }
  }

  /** Writes a head's values, and their scales if they have any, each so many bytes apart. */
  private void store(long from, long to, int distance, long scale, long scaleDistance) {
    int dimension = shape.dimension();
    switch (type) {
      case F32 -> {
        for (int i = 0; i < dimension; i++) {
          Lanes.put(to + (long) distance * i, Lanes.scalar(from + 4L * i));
        }
      }
      case F16 -> {
        for (int i = 0; i < dimension; i++) {
          Lanes.putHalf(to + (long) distance * i, Lanes.scalar(from + 4L * i));
        }
      }
      default -> {
        for (int i = 0; i < dimension; i += BLOCK) {
          float rounded = round(from + 4L * i, to + (long) distance * i, distance);
          Lanes.put(scale + i / BLOCK * scaleDistance, rounded);
        }
      }
    }
  }

  /** Rounds a block of values to bytes and returns its scale, which float16 can hold. */
  private static float round(long from, long to, int distance) {
    float largest = 0;
    for (int i = 0; i < BLOCK; i++) {
      largest = Math.max(largest, Math.abs(Lanes.scalar(from + 4L * i)));
    }
    float scale = largest / 127;
    float inverse = scale == 0 ? 0 : 1 / scale;
    for (int i = 0; i < BLOCK; i++) {
      float value = Lanes.scalar(from + 4L * i) * inverse;
      // Just less than a half is added: halves go away from zero, and nothing less does.
      Lanes.putByte(to + (long) distance * i, (int) (value + Math.copySign(0x1.fffffep-2f, value)));
    }
    return Float.float16ToFloat(Float.floatToFloat16(scale));
  }

  /**
   * Copies one group's keys of a head as float32: {@code to[d][0…15]}, rows {@code row} bytes
   * apart.
   */
  void keys(int head, int group, long to, long row) {
    long from = group(head, group);
    switch (type) {
      case F32 -> floatKeys(from, to, row);
      case F16 -> halfKeys(from, to, row);
      default -> byteKeys(from, to, row);
    }
  }

  private void floatKeys(long from, long to, long row) {
    for (int d = 0; d < shape.dimension(); d++) {
      for (int j = 0; j < GROUP; j += COUNT) {
        Lanes.store(to + d * row + 4L * j, Lanes.load(from + 4L * (d * GROUP + j)));
      }
    }
  }

  private void halfKeys(long from, long to, long row) {
    for (int d = 0; d < shape.dimension(); d++) {
      for (int j = 0; j < GROUP; j += COUNT) {
        Lanes.store(to + d * row + 4L * j, Lanes.halves(from + 2L * (d * GROUP + j)));
      }
    }
  }

  private void byteKeys(long from, long to, long row) {
    int dimension = shape.dimension();
    for (int d = 0; d < dimension; d++) {
      long scale = from + (long) GROUP * dimension + 4L * GROUP * (d / BLOCK);
      for (int j = 0; j < GROUP; j += COUNT) {
        FloatVector bytes = Lanes.toFloat(Lanes.signedBytes(from + (long) d * GROUP + j));
        Lanes.store(to + d * row + 4L * j, bytes.mul(Lanes.load(scale + 4L * j)));
      }
    }
  }

  /** Copies a head's values of consecutive positions as float32: {@code to[position][padded]}. */
  void values(int head, int position, int count, long to) {
    long from = row(head, position);
    int all = count * padded;
    switch (type) {
      case F32 -> {
        for (int i = 0; i < all; i += COUNT) {
          Lanes.store(to + 4L * i, Lanes.load(from + 4L * i));
        }
      }
      case F16 -> {
        for (int i = 0; i < all; i += COUNT) {
          Lanes.store(to + 4L * i, Lanes.halves(from + 2L * i));
        }
      }
      default -> byteValues(from, count, to);
    }
  }

  private void byteValues(long from, int count, long to) {
    for (int p = 0; p < count; p++) {
      long row = from + p * rowBytes;
      for (int i = 0; i < padded; i += COUNT) {
        FloatVector bytes = Lanes.toFloat(Lanes.signedBytes(row + i));
        float scale = Lanes.scalar(row + padded + 4L * (i / BLOCK));
        Lanes.store(to + 4L * ((long) p * padded + i), bytes.mul(scale));
      }
    }
  }

  static {
    if (GROUP * 4 % BYTES != 0) {
      throw new AssertionError("vectors of " + BYTES + " bytes are wider than a group");
    }
  }
}

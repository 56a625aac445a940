package io.steelyard.kernels;

import static io.steelyard.kernels.Lanes.BYTES;
import static io.steelyard.kernels.Lanes.COUNT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The vector tier's keys and values. Keys lie as [head][group][dimension][16 positions], so that a
 * query meets 16 positions without a sum across lanes; values as [head][position][dimension, padded
 * to a multiple of 16], so that they are added up whole vectors at a time.
 */
final class VectorCache implements KeyValues {
  /** Positions in a group of keys, and what values' rows are padded to: the widest vector. */
  static final int GROUP = 16;

  private final Shape shape;
  private final boolean half;
  private final int bytesPerValue;
  private final int padded;
  private final long headKeys;
  private final long headValues;
  private final MemorySegment memory;
  private final long keys;
  private final long values;

  VectorCache(Arena arena, Shape shape) {
    this.shape = shape;
    half = shape.type() == DataType.F16;
    bytesPerValue = half ? 2 : 4;
    padded = roundUp(shape.dimension());
    long positions = roundUp(shape.capacity());
    headKeys = positions * shape.dimension() * bytesPerValue;
    headValues = positions * padded * bytesPerValue;
    memory = arena.allocate(shape.heads() * (headKeys + headValues), Rows.ALIGNMENT);
    keys = memory.address();
    values = keys + shape.heads() * headKeys;
  }

  static int roundUp(int count) {
    return (count + GROUP - 1) / GROUP * GROUP;
  }

  @Override
  public Shape shape() {
    return shape;
  }

  @Override
  public long bytes() {
    return memory.byteSize();
  }

  /** A head's dimension, padded: the width of a row of values. */
  int padded() {
    return padded;
  }

  void store(int position, long keyRow, long valueRow) {
    int dimension = shape.dimension();
    int group = position / GROUP;
    for (int head = 0; head < shape.heads(); head++) {
      long from = 4L * head * dimension;
      long key =
          keys
              + head * headKeys
              + ((long) group * GROUP * dimension + position % GROUP) * bytesPerValue;
      long value = values + head * headValues + (long) position * padded * bytesPerValue;
      if (half) {
        for (int i = 0; i < dimension; i++) {
          Lanes.putHalf(key + 2L * GROUP * i, Lanes.scalar(keyRow + from + 4L * i));
          Lanes.putHalf(value + 2L * i, Lanes.scalar(valueRow + from + 4L * i));
        }
      } else {
        for (int i = 0; i < dimension; i++) {
          Lanes.put(key + 4L * GROUP * i, Lanes.scalar(keyRow + from + 4L * i));
          Lanes.put(value + 4L * i, Lanes.scalar(valueRow + from + 4L * i));
        }
      }
    }
  }

  /**
   * Copies one group's keys of a head as float32: {@code to[d][0…15]}, rows {@code row} bytes
   * apart.
   */
  void keys(int head, int group, long to, long row) {
    int dimension = shape.dimension();
    long from = keys + head * headKeys + (long) group * GROUP * dimension * bytesPerValue;
    if (half) {
      for (int d = 0; d < dimension; d++) {
        for (int j = 0; j < GROUP; j += COUNT) {
          Lanes.store(to + d * row + 4L * j, Lanes.halves(from + 2L * (d * GROUP + j)));
        }
      }
    } else {
      for (int d = 0; d < dimension; d++) {
        for (int j = 0; j < GROUP; j += COUNT) {
          Lanes.store(to + d * row + 4L * j, Lanes.load(from + 4L * (d * GROUP + j)));
        }
      }
    }
  }

  /** Copies a head's values of consecutive positions as float32: {@code to[position][padded]}. */
  void values(int head, int position, int count, long to) {
    long from = values + head * headValues + (long) position * padded * bytesPerValue;
    int all = count * padded;
    if (half) {
      for (int i = 0; i < all; i += COUNT) {
        Lanes.store(to + 4L * i, Lanes.halves(from + 2L * i));
      }
    } else {
      for (int i = 0; i < all; i += COUNT) {
        Lanes.store(to + 4L * i, Lanes.load(from + 4L * i));
      }
    }
  }

  static {
    if (GROUP * 4 % BYTES != 0) {
      throw new AssertionError("vectors of " + BYTES + " bytes are wider than a group");
    }
  }
}

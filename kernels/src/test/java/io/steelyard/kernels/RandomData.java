package io.steelyard.kernels;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/** Seeded random operands. */
final class RandomData {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Arena arena;
  private final SplittableRandom random;

  RandomData(Arena arena, long seed) {
    this.arena = arena;
    this.random = new SplittableRandom(seed);
  }

  /** A tensor of random bytes whose scales, and so all values, are finite and of size about 1. */
  Tensor tensor(DataType type, int rows, int columns) {
    long rowBytes = type.bytes(columns);
    // Rows in the middle of a larger piece, odd offset: as they may lie in a file.
    MemorySegment data = arena.allocate(rows * rowBytes + 34, 2).asSlice(2, rows * rowBytes);
    byte[] noise = new byte[(int) data.byteSize()];
    random.nextBytes(noise);
    MemorySegment.copy(noise, 0, data, ValueLayout.JAVA_BYTE, 0, noise.length);
    for (long block = 0; block < data.byteSize(); block += type.blockBytes()) {
      switch (type) {
        case F32 ->
            data.set(
                ValueLayout.JAVA_INT_UNALIGNED, block, Float.floatToRawIntBits(uniform(-1, 1)));
        case F16 -> half(data, block, uniform(-1, 1));
        case BF16 ->
            data.set(SHORT, block, (short) (Float.floatToRawIntBits(uniform(-1, 1)) >> 16));
        case Q8_0 -> half(data, block, uniform(-1, 1) / 128);
        case Q4_0 -> half(data, block, uniform(-1, 1) / 8);
        case Q4_1 -> {
          half(data, block, uniform(-1, 1) / 8);
          half(data, block + 2, uniform(-1, 1));
        }
        case Q4_K, Q5_K -> {
          half(data, block, uniform(-1, 1) / 500);
          half(data, block + 2, uniform(-1, 1) / 60);
        }
        case Q6_K -> half(data, block + 208, uniform(-1, 1) / 2000);
      }
    }
    return new Tensor("random " + type, type, columns, rows, data);
  }

  /** Random rows; the gaps of a stride above the width are NaN, which no operator may touch. */
  Rows rows(int count, int width, int stride) {
    Rows all = Rows.allocate(arena, count, stride);
    for (int row = 0; row < count; row++) {
      for (int i = 0; i < stride; i++) {
        all.set(row, i, i < width ? uniform(-1, 1) : Float.NaN);
      }
    }
    return all.columns(0, width);
  }

  private float uniform(double from, double to) {
    return (float) random.nextDouble(from, to);
  }

  private static void half(MemorySegment data, long offset, float value) {
    data.set(SHORT, offset, Float.floatToFloat16(value));
  }

  /** The most that rounding 32 activations at a time to so many steps changes a product. */
  static double sharedScaleError(float[] row, Rows x, int token, int steps) {
    double bound = 0;
    for (int block = 0; block < row.length; block += 32) {
      double largest = 0;
      double weights = 0;
      for (int i = block; i < block + 32; i++) {
        largest = Math.max(largest, Math.abs(x.get(token, i)));
        weights += Math.abs(row[i]);
      }
      bound += weights * largest / steps * 0.501;
    }
    return bound;
  }
}

package io.steelyard.kernels;

import io.steelyard.kernels.codec.TensorEncoder;
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
    if (!type.isGgml()) {
      return TensorEncoder.encode(
          "random " + type,
          type,
          columns,
          rows,
          (row, to) -> uniform(new SplittableRandom(columns * 31L + row), to),
          arena);
    }
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
        case F64 -> data.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, block, uniform(-1, 1));
        // Random bits, as they are, are finite.
        case I8, I16, I32, I64, NVFP4 -> {}
        case Q4_0 -> half(data, block, uniform(-1, 1) / 8);
        case Q5_0 -> half(data, block, uniform(-1, 1) / 16);
        case Q5_1 -> {
          half(data, block, uniform(-1, 1) / 16);
          half(data, block + 2, uniform(-1, 1));
        }
        case Q8_1, IQ4_NL -> half(data, block, uniform(-1, 1) / 128);
        case Q1_0, Q2_0 -> half(data, block, uniform(-1, 1));
        case TQ1_0 -> half(data, block + 52, uniform(-1, 1));
        case TQ2_0 -> half(data, block + 64, uniform(-1, 1));
        case MXFP4 -> data.set(ValueLayout.JAVA_BYTE, block, (byte) random.nextInt(115, 126));
        case Q2_K -> {
          half(data, block + 80, uniform(-1, 1) / 45);
          half(data, block + 82, uniform(-1, 1) / 15);
        }
        case Q3_K -> half(data, block + 108, uniform(-1, 1) / 128);
        case Q8_K -> data.set(ValueLayout.JAVA_FLOAT_UNALIGNED, block, uniform(-1, 1) / 128);
        case IQ1_S -> half(data, block, uniform(-1, 1) / 16);
        case IQ1_M -> spreadHalf(data, block + 48, uniform(-1, 1) / 16);
        case IQ2_XXS, IQ2_XS, IQ2_S -> half(data, block, uniform(-1, 1) / 160);
        case IQ3_XXS, IQ3_S -> half(data, block, uniform(-1, 1) / 480);
        case IQ4_XS -> half(data, block, uniform(-1, 1) / 4000);
        case Q4_1 -> {
          half(data, block, uniform(-1, 1) / 8);
          half(data, block + 2, uniform(-1, 1));
        }
        case Q4_K, Q5_K -> {
          half(data, block, uniform(-1, 1) / 500);
          half(data, block + 2, uniform(-1, 1) / 60);
        }
        case Q6_K -> half(data, block + 208, uniform(-1, 1) / 2000);
        default -> throw new IllegalArgumentException(type + " is written by its encoder");
      }
    }
    return new Tensor("random " + type, type, columns, rows, data);
  }

  private static void uniform(SplittableRandom random, float[] to) {
    for (int i = 0; i < to.length; i++) {
      to[i] = (float) random.nextDouble(-1, 1);
    }
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

  /** A half in the highest four bits of four numbers, the lowest nibble first. */
  private static void spreadHalf(MemorySegment data, long offset, float value) {
    int bits = Float.floatToFloat16(value);
    for (int i = 0; i < 4; i++) {
      int kept = data.get(SHORT, offset + 2L * i) & 0xFFF;
      data.set(SHORT, offset + 2L * i, (short) (kept | ((bits >> (4 * i)) & 0xF) << 12));
    }
  }

  private static void half(MemorySegment data, long offset, float value) {
    data.set(SHORT, offset, Float.floatToFloat16(value));
  }

  /** The sum of a product's magnitudes. */
  static double magnitude(float[] row, Rows x, int token) {
    double sum = 0;
    for (int i = 0; i < row.length; i++) {
      sum += Math.abs((double) row[i] * x.get(token, i));
    }
    return sum;
  }

  /** The most that rounding some activations at a time to so many steps changes a product. */
  static double sharedScaleError(float[] row, Rows x, int token, int steps, int sharing) {
    return sharedScaleError(row, x, token, steps, 1, sharing);
  }

  /**
   * The same where groups of four have scales by turns.
   *
   * @param turns how many scales
   * @param sharing activations that have the same ones
   */
  static double sharedScaleError(
      float[] row, Rows x, int token, int steps, int turns, int sharing) {
    double bound = 0;
    for (int block = 0; block < row.length; block += sharing) {
      for (int turn = 0; turn < turns; turn++) {
        double largest = 0;
        double weights = 0;
        for (int i = block; i < Math.min(block + sharing, row.length); i++) {
          if (i / 4 % turns == turn) {
            largest = Math.max(largest, Math.abs(x.get(token, i)));
            weights += Math.abs(row[i]);
          }
        }
        bound += weights * largest / steps * 0.501;
      }
    }
    return bound;
  }
}

package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.DOUBLE;
import static io.steelyard.kernels.codec.Stored.FLOAT;
import static io.steelyard.kernels.codec.Stored.SHORT;

import io.steelyard.kernels.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Turns floats into the bytes of a {@link DataType}. Rounding is that of ggml's reference
 * quantisers, so that a file written here equals one that llama.cpp would write.
 *
 * <p>Values must be finite for the block types. Source: {@code ggml-quants.c}, {@code
 * quantize_row_*_ref}.
 */
public final class Encoder {
  private Encoder() {}

  /**
   * Encodes a run of values.
   *
   * @param type F64, F32, F16, BF16, Q8_0 or Q4_0
   * @param values source
   * @param from first value
   * @param count number of values, a multiple of the type's block size
   * @param target where the {@code type.bytes(count)} bytes go
   * @param offset first byte in the target
   * @throws IllegalArgumentException for another type or a count that is no multiple
   * @throws IndexOutOfBoundsException if source or target are too short
   */
  public static void encode(
      DataType type, float[] values, int from, int count, MemorySegment target, long offset) {
    MemorySegment out = target.asSlice(offset, type.bytes(count));
    switch (type) {
      case F64 -> {
        for (int i = 0; i < count; i++) {
          out.set(DOUBLE, 8L * i, values[from + i]);
        }
      }
      case F32 -> MemorySegment.copy(values, from, out, FLOAT, 0, count);
      case F16 -> {
        for (int i = 0; i < count; i++) {
          out.set(SHORT, 2L * i, Float.floatToFloat16(values[from + i]));
        }
      }
      case BF16 -> {
        for (int i = 0; i < count; i++) {
          out.set(SHORT, 2L * i, bfloat16(values[from + i]));
        }
      }
      case Q8_0 -> {
        for (int block = 0; block < count / 32; block++) {
          encodeQ8(values, from + 32 * block, out, 34L * block);
        }
      }
      case Q4_0 -> {
        for (int block = 0; block < count / 32; block++) {
          encodeQ4(values, from + 32 * block, out, 18L * block);
        }
      }
      default ->
          throw new IllegalArgumentException(
              type + " can't be written; types that can: F64, F32, F16, BF16, Q8_0, Q4_0");
    }
  }

  /** The nearest bfloat16, ties to even; a NaN becomes a quiet one. */
  public static short bfloat16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if (Float.isNaN(value)) {
      return (short) ((bits >>> 16) | 0x40);
    }
    return (short) ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16);
  }

  /** Scale of largest magnitude / 127, then 32 signed bytes. */
  private static void encodeQ8(float[] values, int from, MemorySegment out, long offset) {
    float largest = 0;
    for (int i = 0; i < 32; i++) {
      largest = Math.max(largest, Math.abs(values[from + i]));
    }
    float scale = largest / 127;
    float inverse = scale == 0 ? 0 : 1 / scale;
    out.set(SHORT, offset, Float.floatToFloat16(scale));
    for (int i = 0; i < 32; i++) {
      out.set(ValueLayout.JAVA_BYTE, offset + 2 + i, (byte) round(values[from + i] * inverse));
    }
  }

  /**
   * Scale of the value of largest magnitude / -8, which that value then meets exactly, and 32
   * nibbles: value i in the low half of byte i, value i + 16 in the high half.
   */
  private static void encodeQ4(float[] values, int from, MemorySegment out, long offset) {
    float largest = 0;
    float extreme = 0;
    for (int i = 0; i < 32; i++) {
      float value = values[from + i];
      if (largest < Math.abs(value)) {
        largest = Math.abs(value);
        extreme = value;
      }
    }
    float scale = extreme / -8;
    float inverse = scale == 0 ? 0 : 1 / scale;
    out.set(SHORT, offset, Float.floatToFloat16(scale));
    for (int i = 0; i < 16; i++) {
      int low = Math.min(15, (int) (values[from + i] * inverse + 8.5f));
      int high = Math.min(15, (int) (values[from + 16 + i] * inverse + 8.5f));
      out.set(ValueLayout.JAVA_BYTE, offset + 2 + i, (byte) (low | (high << 4)));
    }
  }

  /** Half away from zero, as C's {@code roundf}; adding a half first would misround 0.49999997. */
  private static int round(float value) {
    int whole = (int) value;
    float rest = value - whole;
    return rest >= 0.5f ? whole + 1 : rest <= -0.5f ? whole - 1 : whole;
  }
}

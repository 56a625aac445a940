package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.half;
import static io.steelyard.kernels.codec.Stored.nibble;
import static io.steelyard.kernels.codec.Stored.unsigned;
import static io.steelyard.kernels.codec.Stored.unsigned16;

import java.lang.foreign.MemorySegment;

/**
 * IQ4_NL, IQ4_XS, MXFP4 and NVFP4: a nibble names one of 16 unevenly spaced levels, which a scale
 * multiplies. Of a byte the low nibble is of the first half of the values that share a scale.
 *
 * <p>Sources: {@code ggml-common.h}; OCP, "Microscaling Formats (MX) Specification 1.0" (2023).
 */
public final class FourBitLevels {
  /** Denser around zero, as weights are. */
  private static final byte[] NONLINEAR = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113
  };

  /** Twice the values of a 4-bit float (E2M1), so that they are whole. */
  private static final byte[] DOUBLED_FLOATS = {
    0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12
  };

  private FourBitLevels() {}

  /** The 16 levels of IQ4_NL and IQ4_XS. */
  public static byte[] nonlinear() {
    return NONLINEAR.clone();
  }

  /** The 16 levels of MXFP4 and NVFP4. */
  public static byte[] doubledFloats() {
    return DOUBLED_FLOATS.clone();
  }

  private static void levels(
      byte[] levels, MemorySegment from, long pairs, int count, float scale, float[] to, int at) {
    int half = count / 2;
    for (int i = 0; i < half; i++) {
      int pair = unsigned(from, pairs + i);
      to[at + i] = levels[pair & 0xF] * scale;
      to[at + half + i] = levels[pair >> 4] * scale;
    }
  }

  /** Layout: scale (f16), 16 bytes of nibbles. */
  static void iq4Nonlinear(MemorySegment from, long offset, float[] to, int at) {
    levels(NONLINEAR, from, offset + 2, 32, half(from, offset), to, at);
  }

  /**
   * Layout: scale (f16), the high 2 bits of eight 6-bit scales, their low nibbles, 128 bytes of
   * nibbles.
   */
  static void iq4ExtraSmall(MemorySegment from, long offset, float[] to, int at) {
    for (int sub = 0; sub < 8; sub++) {
      float scale = iq4ExtraSmallScale(from, offset, sub);
      levels(NONLINEAR, from, offset + 8 + 16L * sub, 32, scale, to, at + 32 * sub);
    }
  }

  /** The scale of 32 values of {@link #iq4ExtraSmall}. */
  private static float iq4ExtraSmallScale(MemorySegment from, long offset, int sub) {
    int high = (unsigned16(from, offset + 2) >> (2 * sub)) & 3;
    return half(from, offset) * ((nibble(from, offset + 4, sub) | high << 4) - 32);
  }

  /** Layout: exponent (E8M0), 16 bytes of nibbles. */
  static void mxfp4(MemorySegment from, long offset, float[] to, int at) {
    levels(DOUBLED_FLOATS, from, offset + 1, 32, halfOfE8M0(unsigned(from, offset)), to, at);
  }

  /** Layout: a scale (unsigned E4M3) for each 16 values, then 8 bytes of nibbles for each. */
  static void nvfp4(MemorySegment from, long offset, float[] to, int at) {
    for (int sub = 0; sub < 4; sub++) {
      float scale = halfOfE4M3(unsigned(from, offset + sub));
      levels(DOUBLED_FLOATS, from, offset + 4 + 8L * sub, 16, scale, to, at + 16 * sub);
    }
  }

  /** The scale of MXFP4: half of 2^(e - 127), since levels are doubled; e is from 0 to 255. */
  public static float halfOfE8M0(int e) {
    return Float.intBitsToFloat(e < 2 ? 0x20_0000 << e : (e - 1) << 23);
  }

  /** Half of an unsigned 8-bit float; its NaN counts as zero. */
  static float halfOfE4M3(int bits) {
    int exponent = (bits >> 3) & 0xF;
    int mantissa = bits & 7;
    if (bits == 0x7F) {
      return 0;
    }
    return exponent == 0 ? mantissa * 0x1p-10f : Math.scalb(1 + mantissa / 8f, exponent - 8);
  }
}

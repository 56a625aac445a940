package io.steelyard.kernels.emulated;

/**
 * Numbers of 16 bits as AVX-512 and AMX treat them: subnormal ones, and results, are taken for
 * zeros.
 *
 * <p>Source: Intel Software Developer's Manual, volume 2, VCVTNEPS2BF16, VDPBF16PS and TDPBF16PS.
 */
final class BFloat16 {
  private static final int SIGN = 0x8000_0000;

  private BFloat16() {}

  /** The bits of the nearest, of two the even one. */
  static int of(int bits) {
    if (isSubnormal(bits)) {
      return bits >>> 16 & 0x8000;
    }
    if (Float.isNaN(Float.intBitsToFloat(bits))) {
      return bits >>> 16 | 0x40;
    }
    return (bits + 0x7FFF + (bits >>> 16 & 1)) >>> 16;
  }

  static float low(int pair) {
    return flushed(Float.intBitsToFloat(pair << 16));
  }

  static float high(int pair) {
    return flushed(Float.intBitsToFloat(pair & 0xFFFF_0000));
  }

  /** A sum with one product more, rounded once. */
  static float fma(float a, float b, float sum) {
    return flushed(Math.fma(a, b, flushed(sum)));
  }

  static float add(float a, float b) {
    return flushed(flushed(a) + flushed(b));
  }

  private static float flushed(float value) {
    int bits = Float.floatToRawIntBits(value);
    return isSubnormal(bits) ? Float.intBitsToFloat(bits & SIGN) : value;
  }

  private static boolean isSubnormal(int bits) {
    return (bits & 0x7F80_0000) == 0;
  }
}

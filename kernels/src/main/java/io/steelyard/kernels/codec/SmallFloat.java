package io.steelyard.kernels.codec;

/**
 * Floats of eight and fewer bits: sign, exponent, mantissa. Values beyond the largest become the
 * largest, so that no infinity arises.
 *
 * <p>Sources: Micikevicius and others, "FP8 Formats for Deep Learning" (2022); OCP, "Microscaling
 * Formats (MX) Specification 1.0" (2023).
 */
public enum SmallFloat {
  /** Largest 448; no infinities; all bits but the sign set are NaN. */
  E4M3(4, 3, 0x7E),
  /** Largest 57344; infinities and NaN as in IEEE 754. */
  E5M2(5, 2, 0x7B),
  /** 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives. */
  E2M1(2, 1, 0x7);

  private final int mantissaBits;
  private final int signShift;
  private final int bias;
  private final int largestBits;

  /** By bits; filled once. */
  @SuppressWarnings("ImmutableEnumChecker")
  private final float[] values;

  SmallFloat(int exponentBits, int mantissaBits, int largestBits) {
    this.mantissaBits = mantissaBits;
    this.largestBits = largestBits;
    signShift = exponentBits + mantissaBits;
    bias = (1 << (exponentBits - 1)) - 1;
    values = new float[2 << signShift];
    for (int bits = 0; bits < 1 << signShift; bits++) {
      values[bits] = magnitude(bits);
      values[bits | 1 << signShift] = -values[bits];
    }
  }

  private float magnitude(int bits) {
    if (bits > largestBits) {
      boolean infinite = mantissaBits == 2 && bits == largestBits + 1;
      return infinite ? Float.POSITIVE_INFINITY : Float.NaN;
    }
    int exponent = bits >> mantissaBits;
    int mantissa = bits & ((1 << mantissaBits) - 1);
    return exponent == 0
        ? Math.scalb((float) mantissa, 1 - bias - mantissaBits)
        : Math.scalb((float) (mantissa | 1 << mantissaBits), exponent - bias - mantissaBits);
  }

  /** The largest finite value. */
  public float largest() {
    return values[largestBits];
  }

  /** The value of some bits; those above the sign must be zero. */
  public float value(int bits) {
    return values[bits];
  }

  /** The nearest value's bits, of two the even one; NaN becomes NaN where there is one. */
  public int bits(float value) {
    int sign = value < 0 || (value == 0 && 1 / value < 0) ? 1 << signShift : 0;
    float magnitude = Math.abs(value);
    if (Float.isNaN(value)) {
      return sign | ((1 << signShift) - 1);
    }
    if (magnitude >= largest()) {
      return sign | largestBits;
    }
    // The step of the value's binade, or that of the smallest one, which has the same.
    int exponent = Math.max(Math.getExponent(magnitude), 1 - bias);
    // A whole number of steps: exact but for the rounding that is wanted.
    int steps = (int) Math.rint(Math.scalb((double) magnitude, mantissaBits - exponent));
    // In the smallest binade steps are the bits; in others the leading one counts an exponent.
    int binade = (exponent - (1 - bias)) << mantissaBits;
    return sign | (binade + steps);
  }
}

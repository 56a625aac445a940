package io.steelyard.kernels;

/** The packed 6-bit scales and minima of Q4_K and Q5_K blocks, at machine addresses. */
final class KScales {
  private KScales() {}

  static int scale(long scales, int sub) {
    return sub < 4
        ? Lanes.unsignedByte(scales + sub) & 63
        : (Lanes.unsignedByte(scales + sub + 4) & 0xF)
            | (Lanes.unsignedByte(scales + sub - 4) >> 6) << 4;
  }

  static int minimum(long scales, int sub) {
    return sub < 4
        ? Lanes.unsignedByte(scales + sub + 4) & 63
        : Lanes.unsignedByte(scales + sub + 4) >> 4 | (Lanes.unsignedByte(scales + sub) >> 6) << 4;
  }
}

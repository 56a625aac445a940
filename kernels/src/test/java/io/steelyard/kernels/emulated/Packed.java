package io.steelyard.kernels.emulated;

/** Bytes and words in lanes of 32 bits, the lowest first. */
final class Packed {
  private Packed() {}

  /** A byte of a vector, unsigned. */
  static int byteOf(int[] vector, int index) {
    return vector[index >> 2] >>> (8 * (index & 3)) & 0xFF;
  }

  /** A word of a vector, unsigned. */
  static int wordOf(int[] vector, int index) {
    return vector[index >> 1] >>> (16 * (index & 1)) & 0xFFFF;
  }

  static void setByte(int[] vector, int index, int value) {
    int shift = 8 * (index & 3);
    vector[index >> 2] = (vector[index >> 2] & ~(0xFF << shift)) | (value & 0xFF) << shift;
  }

  static void setWord(int[] vector, int index, int value) {
    int shift = 16 * (index & 1);
    vector[index >> 1] = (vector[index >> 1] & ~(0xFFFF << shift)) | (value & 0xFFFF) << shift;
  }

  /** The sum of the products of four unsigned bytes with four signed ones. */
  static int unsignedBySigned(int unsigned, int signed) {
    int sum = 0;
    for (int shift = 0; shift < 32; shift += 8) {
      sum += (unsigned >>> shift & 0xFF) * (byte) (signed >> shift);
    }
    return sum;
  }

  /** The sum of the products of two signed words each. */
  static int wordsByWords(int a, int b) {
    return (short) a * (short) b + (a >> 16) * (b >> 16);
  }
}

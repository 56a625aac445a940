package io.steelyard.kernels.assembler;

/**
 * A vector register.
 *
 * @param number from 0 to 31; those from 16 on need AVX-512
 * @param bytes 16, 32 or 64: XMM, YMM or ZMM
 */
public record Vec(int number, int bytes) {
  public Vec {
    if (number < 0 || number > 31 || (bytes != 16 && bytes != 32 && bytes != 64)) {
      throw new IllegalArgumentException("no vector register " + number + " of " + bytes);
    }
  }

  public static Vec xmm(int number) {
    return new Vec(number, 16);
  }

  public static Vec ymm(int number) {
    return new Vec(number, 32);
  }

  public static Vec zmm(int number) {
    return new Vec(number, 64);
  }

  /** The same register, of another width. */
  public Vec as(int bytes) {
    return new Vec(number, bytes);
  }

  /** Float32 values that it holds. */
  public int floats() {
    return bytes / Float.BYTES;
  }
}

package io.steelyard.kernels.emulated;

import io.steelyard.kernels.assembler.Instruction.Place;
import java.util.Arrays;

/** The registers of a processor with AVX-512. */
final class Registers {
  static final int RAX = 0;
  static final int RCX = 1;
  static final int RDX = 2;
  static final int RSP = 4;
  static final int RSI = 6;
  static final int RDI = 7;

  /** What a function has to leave as it was: RBX, RSP, RBP and R12 to R15. */
  static final int[] KEPT = {3, RSP, 5, 12, 13, 14, 15};

  /** A signalling NaN in every lane, and no sensible address: whoever counts on it is found out. */
  private static final int RUBBISH = 0x7F8B_ADAD;

  final long[] general = new long[16];

  /** Each of sixteen lanes of 32 bits, the lowest first. */
  final int[][] vectors = new int[32][16];

  final long[] masks = new long[8];

  boolean zero;
  boolean sign;
  boolean carry;
  boolean overflow;

  /** What a function may not count on, as it is called, is filled with rubbish. */
  void spoil() {
    for (int[] vector : vectors) {
      Arrays.fill(vector, RUBBISH);
    }
    Arrays.fill(masks, 1, masks.length, 0x5555_5555_5555_5555L);
    for (int register : new int[] {RAX, 10, 11}) {
      general[register] = RUBBISH;
    }
  }

  long address(Place place) {
    long index = place.index() == Place.NONE ? 0 : general[place.index()] * place.scale();
    return general[place.base()] + index + place.displacement();
  }
}

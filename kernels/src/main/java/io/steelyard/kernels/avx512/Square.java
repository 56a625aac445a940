package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Op.VPUNPCKHDQ;
import static io.steelyard.kernels.assembler.Op.VPUNPCKHQDQ;
import static io.steelyard.kernels.assembler.Op.VPUNPCKLDQ;
import static io.steelyard.kernels.assembler.Op.VPUNPCKLQDQ;
import static io.steelyard.kernels.assembler.Op.VSHUFI32X4;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.assembler.Vec;

/** Turns squares of 4-byte values within registers. */
public final class Square {
  private Square() {}

  /** Turns registers 0 to 15 of 16 values each; overwrites 16 to 31. */
  public static void turn(Assembler a) {
    for (int first = 0; first < 16; first += 4) {
      quad(a, first, 16 + first);
    }
    for (int i = 0; i < 4; i++) {
      Vec[] halves = {zmm(16 + 4 * i), zmm(17 + 4 * i), zmm(18 + 4 * i), zmm(19 + 4 * i)};
      for (int pair = 0; pair < 2; pair++) {
        Vec low = zmm(8 * pair + i);
        Vec high = zmm(8 * pair + 4 + i);
        a.op(VSHUFI32X4, halves[2 * pair], low, high, 0x88);
        a.op(VSHUFI32X4, halves[2 * pair + 1], low, high, 0xDD);
      }
      for (int odd = 0; odd < 2; odd++) {
        a.op(VSHUFI32X4, zmm(4 * odd + i), halves[odd], halves[2 + odd], 0x88);
        a.op(VSHUFI32X4, zmm(8 + 4 * odd + i), halves[odd], halves[2 + odd], 0xDD);
      }
    }
  }

  /**
   * Turns 4 × 4 values within every 16 bytes of four registers.
   *
   * @param first the first of the four
   * @param scratch the first of four to overwrite
   */
  static void quad(Assembler a, int first, int scratch) {
    Vec[] rows = {zmm(first), zmm(first + 1), zmm(first + 2), zmm(first + 3)};
    Vec[] pairs = {zmm(scratch), zmm(scratch + 1), zmm(scratch + 2), zmm(scratch + 3)};
    both(a, VPUNPCKLDQ, VPUNPCKHDQ, pairs[0], pairs[1], rows[0], rows[1]);
    both(a, VPUNPCKLDQ, VPUNPCKHDQ, pairs[2], pairs[3], rows[2], rows[3]);
    both(a, VPUNPCKLQDQ, VPUNPCKHQDQ, rows[0], rows[1], pairs[0], pairs[2]);
    both(a, VPUNPCKLQDQ, VPUNPCKHQDQ, rows[2], rows[3], pairs[1], pairs[3]);
  }

  private static void both(Assembler a, Op low, Op high, Vec toLow, Vec toHigh, Vec x, Vec y) {
    a.op(low, toLow, x, y);
    a.op(high, toHigh, x, y);
  }
}

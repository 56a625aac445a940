package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Op.VEXTRACTF128;
import static io.steelyard.kernels.assembler.Op.VEXTRACTF64X4;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTD;
import static io.steelyard.kernels.assembler.Op.VPERMILPS;
import static io.steelyard.kernels.assembler.Op.VPMOVZXBD;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Mask;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.assembler.Vec;

/** Pieces of code that several kernels share. */
final class Snippets {
  private Snippets() {}

  /**
   * Combines all 16 lanes, always in the same order.
   *
   * @param op VADDPS or VMAXPS
   * @param from below 16; its lowest lane receives the result
   * @param other below 16, overwritten
   */
  static void reduce(Assembler a, Op op, Vec from, Vec other) {
    a.op(VEXTRACTF64X4, other.as(32), from.as(64), 1);
    a.op(op, from.as(32), from.as(32), other.as(32));
    a.op(VEXTRACTF128, other.as(16), from.as(32), 1);
    a.op(op, from.as(16), from.as(16), other.as(16));
    a.op(VPERMILPS, other.as(16), from.as(16), 0x4E);
    a.op(op, from.as(16), from.as(16), other.as(16));
    a.op(VPERMILPS, other.as(16), from.as(16), 0xB1);
    a.op(op, from.as(16), from.as(16), other.as(16));
  }

  /** All lanes become 32 bits. */
  static void constant(Assembler a, Vec to, int bits, Gpr scratch) {
    a.mov(scratch, bits & 0xFFFF_FFFFL);
    a.vpbroadcastd(to, scratch);
  }

  /** All lanes become a float32. */
  static void constant(Assembler a, Vec to, float value, Gpr scratch) {
    constant(a, to, Float.floatToRawIntBits(value), scratch);
  }

  /** Lanes become the bytes of two longs, the lowest first. Uses the stack below RSP. */
  static void bytes(Assembler a, Vec to, long low, long high, Gpr scratch) {
    a.mov(scratch, low);
    a.mov(Mem.at(Gpr.RSP, -16), scratch);
    a.mov(scratch, high);
    a.mov(Mem.at(Gpr.RSP, -8), scratch);
    a.op(VPMOVZXBD, to, Mem.at(Gpr.RSP, -16));
  }

  /** The lowest lane of a register goes to all lanes. */
  static void spread(Assembler a, Vec to, Vec from) {
    a.op(VPBROADCASTD, to, from.as(16));
  }

  /** Selects the first lanes, as many as a register says, up to 63. Needs BMI2. */
  static void first(Assembler a, Mask to, Gpr count, Gpr scratch) {
    a.mov(scratch, 1);
    a.shlx(scratch, scratch, count);
    a.sub(scratch, 1);
    a.kmovq(to, scratch);
  }
}

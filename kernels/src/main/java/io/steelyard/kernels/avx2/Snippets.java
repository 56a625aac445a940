package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Op.VEXTRACTF128;
import static io.steelyard.kernels.assembler.Op.VEXTRACTF64X4;
import static io.steelyard.kernels.assembler.Op.VINSERTI128;
import static io.steelyard.kernels.assembler.Op.VMOVDQU;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTD;
import static io.steelyard.kernels.assembler.Op.VPDPWSSD;
import static io.steelyard.kernels.assembler.Op.VPERMILPS;
import static io.steelyard.kernels.assembler.Op.VPMADDWD;
import static io.steelyard.kernels.assembler.Op.VPMOVZXBD;
import static io.steelyard.kernels.assembler.Op.VPXOR;
import static io.steelyard.kernels.assembler.Op.VPXORD;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Mask;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.assembler.Vec;

/** Pieces of code that several kernels share. */
public final class Snippets {
  private Snippets() {}

  /**
   * Combines all lanes, always in the same order.
   *
   * @param op VADDPS, VMAXPS or VPADDD
   * @param from below 16; its lowest lane receives the result
   * @param other below 16, overwritten
   */
  public static void reduce(Assembler a, Op op, Vec from, Vec other) {
    if (from.bytes() == 64) {
      a.op(VEXTRACTF64X4, other.as(32), from, 1);
      a.op(op, from.as(32), from.as(32), other.as(32));
    }
    a.op(VEXTRACTF128, other.as(16), from.as(32), 1);
    a.op(op, from.as(16), from.as(16), other.as(16));
    a.op(VPERMILPS, other.as(16), from.as(16), 0x4E);
    a.op(op, from.as(16), from.as(16), other.as(16));
    a.op(VPERMILPS, other.as(16), from.as(16), 0xB1);
    a.op(op, from.as(16), from.as(16), other.as(16));
  }

  /**
   * Multiplies words and adds the products, by twos, to sums of 32 bits. Both ways give the same
   * bits, since both let sums wrap.
   *
   * @param vnni whether in one instruction, of AVX-VNNI
   * @param product overwritten otherwise; may be the first words' register
   */
  static void addWords(Assembler a, boolean vnni, Vec sum, Vec words, Vec others, Vec product) {
    if (vnni) {
      a.op(VPDPWSSD, sum, words, others);
    } else {
      a.op(VPMADDWD, product, words, others);
      a.op(VPADDD, sum, sum, product);
    }
  }

  /** The same with words in memory. */
  static void addWords(Assembler a, boolean vnni, Vec sum, Vec words, Mem others, Vec product) {
    if (vnni) {
      a.op(VPDPWSSD, sum, words, others);
    } else {
      a.op(VPMADDWD, product, words, others);
      a.op(VPADDD, sum, sum, product);
    }
  }

  /** All lanes become 32 bits. */
  public static void constant(Assembler a, Vec to, int bits, Gpr scratch) {
    a.mov(scratch, bits & 0xFFFF_FFFFL);
    broadcast(a, to, scratch);
  }

  /** All lanes become a float32. */
  public static void constant(Assembler a, Vec to, float value, Gpr scratch) {
    constant(a, to, Float.floatToRawIntBits(value), scratch);
  }

  /** All lanes become a register's low 32 bits. */
  public static void broadcast(Assembler a, Vec to, Gpr from) {
    if (to.bytes() == 64 || to.number() > 15) {
      a.vpbroadcastd(to, from);
    } else {
      a.vmovd(to.as(16), from);
      a.op(VPBROADCASTD, to, to.as(16));
    }
  }

  /** Lanes become the bytes of two longs, the lowest first. Uses the stack below RSP. */
  public static void bytes(Assembler a, Vec to, long low, long high, Gpr scratch) {
    a.mov(scratch, low);
    a.mov(Mem.at(Gpr.RSP, -16), scratch);
    a.mov(scratch, high);
    a.mov(Mem.at(Gpr.RSP, -8), scratch);
    a.op(VPMOVZXBD, to, Mem.at(Gpr.RSP, -16));
  }

  /** 16 bytes in either half of a register, by way of the stack. */
  static void halves(Assembler a, Vec to, long low, long high, Gpr scratch) {
    a.mov(scratch, low);
    a.mov(Mem.at(Gpr.RSP, -16), scratch);
    a.mov(scratch, high);
    a.mov(Mem.at(Gpr.RSP, -8), scratch);
    a.op(VMOVDQU, to.as(16), Mem.at(Gpr.RSP, -16));
    a.op(VINSERTI128, to, to, to.as(16), 1);
  }

  /** Lanes become 0, 1, 2 and so on. */
  public static void indices(Assembler a, Vec to, Gpr scratch) {
    bytes(a, to, 0x0706_0504_0302_0100L, 0x0F0E_0D0C_0B0A_0908L, scratch);
  }

  /** The lowest lane of a register goes to all lanes. */
  public static void spread(Assembler a, Vec to, Vec from) {
    a.op(VPBROADCASTD, to, from.as(16));
  }

  /** All lanes become zero. */
  public static void clear(Assembler a, Vec register) {
    boolean wide = register.bytes() == 64 || register.number() > 15;
    a.op(wide ? VPXORD : VPXOR, register, register, register);
  }

  /** Selects the first lanes, as many as a register says, up to 63. Needs AVX-512 and BMI2. */
  public static void first(Assembler a, Mask to, Gpr count, Gpr scratch) {
    a.mov(scratch, 1);
    a.shlx(scratch, scratch, count);
    a.sub(scratch, 1);
    a.kmovq(to, scratch);
  }
}

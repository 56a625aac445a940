package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPS2DQ;
import static io.steelyard.kernels.assembler.Op.VDIVSS;
import static io.steelyard.kernels.assembler.Op.VMAXPS;
import static io.steelyard.kernels.assembler.Op.VMAXSS;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VMULSS;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPDPBUSD;
import static io.steelyard.kernels.assembler.Op.VPMOVDB;
import static io.steelyard.kernels.assembler.Op.VPSLLD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRAD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSUBD;
import static io.steelyard.kernels.assembler.Op.VPXORD;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.ymm;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.Snippets;
import io.steelyard.kernels.machine.Function;

/**
 * Activations as {@link FewTokens} takes them: 32 values as whole numbers of 16 bits with a common
 * scale, split in a high and a low signed byte.
 *
 * <p>Arguments of its function: the activations; where the first block goes; blocks, at least 1;
 * where the sum of the first block's activations goes, that of the next behind it.
 *
 * <p>All sums are of what was rounded, so that an offset and the rounding's error don't add up.
 */
final class FewActivations {
  /** Places in a block: the high bytes, the low bytes. */
  static final int HIGH = 0;

  static final int LOW = 32;

  /** Of each four activations, what weights of six bits that are 32 too large add too much. */
  static final int EXCESS_OF_SIX_BITS = 64;

  static final int SCALE = 96;

  /** An eighth of the sum of all 32, since eight lanes will add it. */
  static final int EIGHTH_OF_SUM = 100;

  /** What nibbles that are 8 too large add too much in each of four lanes. */
  static final int EXCESS_OF_NIBBLES = 104;

  /** What bytes that are 128 too large add too much in each of eight lanes. */
  static final int EXCESS_OF_BYTES = 108;

  /** Bytes of a block. */
  static final int BLOCK = 112;

  /** 127 · 256, so that the high byte can be rounded up. */
  private static final float LARGEST = 32_512;

  private static final Vec ABSOLUTE = zmm(10);
  private static final Vec ROUNDING = zmm(11);
  private static final Vec MOST = zmm(12);
  private static final Vec LEAST = zmm(13);
  private static final Vec INVERSE = zmm(14);
  private static final Vec ONES = zmm(15);
  private static final Vec EIGHTH = zmm(16);
  private static final Vec MINUS_TWO = zmm(17);
  private static final Vec MINUS_SIXTEEN = zmm(18);
  private static final Vec MINUS_THIRTY_TWO = zmm(19);

  private FewActivations() {}

  static Function function() {
    return Function.of(FewActivations::write);
  }

  private static void write(Assembler a) {
    Snippets.constant(a, ABSOLUTE, 0x7FFF_FFFF, RAX);
    Snippets.constant(a, ROUNDING, 128, RAX);
    Snippets.constant(a, MOST, LARGEST, RAX);
    Snippets.constant(a, LEAST, 1e-30f, RAX);
    Snippets.constant(a, INVERSE, 1 / LARGEST, RAX);
    Snippets.constant(a, ONES, 0x0101_0101, RAX);
    Snippets.constant(a, EIGHTH, 0.125f, RAX);
    Snippets.constant(a, MINUS_TWO, -8 / 4f, RAX);
    Snippets.constant(a, MINUS_SIXTEEN, -128 / 8f, RAX);
    Snippets.constant(a, MINUS_THIRTY_TWO, -32f, RAX);
    Label block = a.loop();
    a.op(VMOVUPS, zmm(0), at(RDI));
    a.op(VMOVUPS, zmm(1), at(RDI, 64));
    a.op(VPANDD, zmm(2), zmm(0), ABSOLUTE);
    a.op(VPANDD, zmm(3), zmm(1), ABSOLUTE);
    a.op(VMAXPS, zmm(2), zmm(2), zmm(3));
    Snippets.reduce(a, VMAXPS, zmm(2), zmm(3));
    a.op(VMULSS, xmm(4), xmm(2), INVERSE.as(16));
    a.op(VMOVSS_STORE, at(RSI, SCALE), xmm(4));
    a.op(VMAXSS, xmm(2), xmm(2), LEAST.as(16));
    a.op(VDIVSS, xmm(2), MOST.as(16), xmm(2));
    Snippets.spread(a, zmm(2), zmm(2));
    for (int half = 0; half < 2; half++) {
      Vec value = zmm(half);
      a.op(VMULPS, value, value, zmm(2));
      a.op(VCVTPS2DQ, value, value);
    }
    a.op(VPADDD, zmm(5), zmm(0), zmm(1));
    a.op(VCVTDQ2PS, zmm(5), zmm(5));
    Snippets.reduce(a, VADDPS, zmm(5), zmm(3));
    a.op(VMULSS, xmm(5), xmm(5), xmm(4));
    a.op(VMOVSS_STORE, at(RCX), xmm(5));
    store(a, EIGHTH_OF_SUM, EIGHTH);
    store(a, EXCESS_OF_NIBBLES, MINUS_TWO);
    store(a, EXCESS_OF_BYTES, MINUS_SIXTEEN);
    for (int half = 0; half < 2; half++) {
      Vec value = zmm(half);
      Vec high = zmm(6);
      a.op(VPADDD, high, value, ROUNDING);
      a.op(VPSRAD_IMM, high, high, 8);
      a.op(VPMOVDB, at(RSI, HIGH + 16 * half), high);
      a.op(VPSLLD_IMM, high, high, 8);
      a.op(VPSUBD, value, value, high);
      a.op(VPMOVDB, at(RSI, LOW + 16 * half), value);
    }
    // Σ of each four, by a product with ones.
    a.op(VPXORD, ymm(6), ymm(6), ymm(6));
    a.op(VPXORD, ymm(7), ymm(7), ymm(7));
    a.op(VPDPBUSD, ymm(6), ONES.as(32), at(RSI, HIGH));
    a.op(VPDPBUSD, ymm(7), ONES.as(32), at(RSI, LOW));
    a.op(VPSLLD_IMM, ymm(6), ymm(6), 8);
    a.op(VPADDD, ymm(6), ymm(6), ymm(7));
    a.op(VCVTDQ2PS, ymm(6), ymm(6));
    a.op(VMULSS, xmm(4), xmm(4), MINUS_THIRTY_TWO.as(16));
    a.op(VBROADCASTSS, ymm(4), xmm(4));
    a.op(VMULPS, ymm(6), ymm(6), ymm(4));
    a.op(VMOVUPS_STORE, at(RSI, EXCESS_OF_SIX_BITS), ymm(6));
    a.add(RCX, Float.BYTES);
    a.add(RDI, 128);
    a.add(RSI, BLOCK);
    a.sub(RDX, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }

  /** Stores a multiple of the sum. */
  private static void store(Assembler a, int place, Vec factor) {
    a.op(VMULSS, xmm(6), xmm(5), factor.as(16));
    a.op(VMOVSS_STORE, at(RSI, place), xmm(6));
  }
}

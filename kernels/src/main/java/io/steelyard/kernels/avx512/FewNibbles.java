package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R14;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Mask.K2;
import static io.steelyard.kernels.assembler.Mask.K3;
import static io.steelyard.kernels.assembler.Mask.K7;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTI32X4;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VEXTRACTF64X4;
import static io.steelyard.kernels.assembler.Op.VFMADD213PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMOVDQU16;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPDPBUSD;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPERMT2PS;
import static io.steelyard.kernels.assembler.Op.VPERMW;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Vec.zmm;
import static io.steelyard.kernels.avx512.FewTokens.PRODUCT;
import static io.steelyard.kernels.avx512.FewTokens.ROWS;
import static io.steelyard.kernels.avx512.FewTokens.SCRATCH;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.Snippets;
import java.util.stream.LongStream;

/**
 * {@link FewTokens} of Q4_0 and Q4_1: four blocks of a row at a time, whose 4-byte words take
 * turns, so that what differs by block is read for all lanes by one load. Low nibbles and high ones
 * have a register each. A row's scales, multiplied with those of the activations, and its sums of
 * offsets are computed for four rows at once, a quarter of the lanes each.
 */
final class FewNibbles implements FewTokens.Body {
  private static final Vec SCALES = zmm(26);
  private static final Vec MINIMA = zmm(27);
  private static final Vec LOADED = zmm(28);

  private final Assembler a;
  private final FewTokens of;
  private final boolean minimum;
  private final int blockBytes;

  /** Where two loads begin that hold all four blocks' bytes in whole 4-byte words. */
  private final int begin;

  private final int other;

  /** The words of either load that are weights. */
  private final Mem weights;

  /** The 2-byte words of scales and of minima, for every row. */
  private final Mem halves;

  /** The words of four blocks of activations that low and high nibbles are multiplied with. */
  private final Mem low;

  private final Mem high;

  /** The sums of the blocks' halves. */
  private final Mem firsts;

  private final Mem seconds;
  private final Mem bits;

  /** What the sums of offsets are multiplied with. */
  private final Mem excess;

  FewNibbles(Assembler a, FewTokens of, DataType type) {
    this.a = a;
    this.of = of;
    minimum = type == DataType.Q4_1;
    blockBytes = type.blockBytes();
    begin = minimum ? 0 : 2;
    other = minimum ? 16 : 8;
    // From byte 2 on, Q4_0's first and third block; from byte 8 on, its second and fourth.
    int[] firstWords = minimum ? new int[] {1, 6, 11, 28} : new int[] {0, 19, 9, 28};
    weights = of.lanes(i -> firstWords[i % 4] + i / 4);
    long scale = halfWords(0);
    long next = halfWords(2);
    halves = of.longs(scale, scale, scale, scale, next, next, next, next);
    low = of.lanes(i -> i % 4 * 8 + i / 4);
    high = of.lanes(i -> i % 4 * 8 + 4 + i / 4);
    firsts = of.lanes(i -> i % 4 * 2);
    seconds = of.lanes(i -> i % 4 * 2 + 1);
    bits = of.bytesOf(0x0F);
    excess = of.floatsOf(minimum ? 1 : -8);
    // Of one to three blocks at a row's end, nothing beyond them is touched: K3 selects their
    // 2-byte
    // words, K2 and K7 those of either load.
    a.mov(RAX, at(R9));
    a.and(RAX, 3);
    a.lea(RBP, at(RAX, RAX, 8));
    if (minimum) {
      a.add(RBP, RAX);
    }
    Snippets.first(a, K3, RBP, R14);
    a.sub(RBP, begin / 2);
    Snippets.first(a, K2, RBP, R14);
    a.sub(RBP, (other - begin) / 2);
    Snippets.first(a, K7, RBP, R14);
  }

  /** The numbers of four blocks' 2-byte words that begin at a byte of theirs. */
  private long halfWords(int at) {
    return LongStream.range(0, 4).map(b -> ((b * blockBytes + at) / 2) << (16 * b)).sum();
  }

  @Override
  public void group() {
    Label rest = new Label();
    Label end = new Label();
    Snippets.clear(a, SCRATCH);
    for (int token = 0; token < of.tokens(); token++) {
      a.op(VMOVUPS_STORE, of.offsets(token), SCRATCH);
    }
    a.sub(RBP, 4);
    a.jump(Condition.LESS, rest);
    Label step = a.loop();
    of.prefetch(4 * blockBytes);
    step(false);
    of.advance(4 * blockBytes, 4);
    a.sub(RBP, 4);
    a.jump(Condition.NOT_LESS, step);
    a.place(rest);
    a.add(RBP, 4);
    a.jump(Condition.EQUAL, end);
    step(true);
    a.place(end);
  }

  /**
   * Multiplies four blocks of each row.
   *
   * @param some whether there are fewer, which masks select
   */
  private void step(boolean some) {
    scales(some);
    for (int row = 0; row < ROWS; row++) {
      Vec lows = zmm(16 + row);
      Vec highs = zmm(20 + row);
      if (some) {
        a.zero(K2).op(VMOVDQU16, lows, of.row(row, begin));
        a.zero(K7).op(VMOVDQU16, PRODUCT, of.row(row, other));
        a.op(VPERMT2PS, lows, of.held(weights, LOADED), PRODUCT);
      } else {
        a.op(VMOVUPS, lows, of.row(row, begin));
        a.op(VPERMT2PS, lows, of.held(weights, LOADED), of.row(row, other));
      }
      a.op(VPSRLW_IMM, highs, lows, 4);
      a.op(VPANDD, lows, lows, of.held(bits, SCRATCH));
      a.op(VPANDD, highs, highs, of.held(bits, SCRATCH));
    }
    for (int token = 0; token < of.tokens(); token++) {
      activations(zmm(24), token, low);
      activations(zmm(25), token, high);
      for (int row = 0; row < ROWS; row++) {
        Snippets.clear(a, PRODUCT);
        a.op(VPDPBUSD, PRODUCT, zmm(16 + row), zmm(24));
        a.op(VPDPBUSD, PRODUCT, zmm(20 + row), zmm(25));
        a.op(VCVTDQ2PS, PRODUCT, PRODUCT);
        a.op(VBROADCASTI32X4, SCRATCH, of.scaledQuarter(token, row));
        a.op(VFMADD231PS, of.sum(token, row), PRODUCT, SCRATCH);
      }
    }
  }

  private void activations(Vec to, int token, Mem words) {
    a.op(VMOVUPS, to, of.activations(token, 0));
    Mem others = of.activations(token, 2 * FewActivations.BLOCK);
    a.op(VPERMT2PS, to, of.held(words, LOADED), others);
  }

  /** Four rows' scales times each token's, and the products of offsets. */
  private void scales(boolean some) {
    Vec found = zmm(25);
    Vec words = of.held(halves, zmm(24));
    for (int row = 0; row < ROWS; row++) {
      if (some) {
        a.zero(K3).op(VMOVDQU16, LOADED, of.row(row, 0));
        of.quarter(row).op(VPERMW, found, words, LOADED);
      } else {
        of.quarter(row).op(VPERMW, found, words, of.row(row, 0));
      }
    }
    a.op(VCVTPH2PS, SCALES, found.as(32));
    if (minimum) {
      a.op(VEXTRACTF64X4, found.as(32), found, 1);
      a.op(VCVTPH2PS, MINIMA, found.as(32));
    }
    for (int token = 0; token < of.tokens(); token++) {
      a.op(VBROADCASTI32X4, PRODUCT, of.scales(token));
      a.op(VMULPS, PRODUCT, PRODUCT, SCALES);
      a.op(VMOVUPS_STORE, of.scaled(token, 0), PRODUCT);
      a.op(VPERMPS, PRODUCT, of.held(firsts, PRODUCT), of.sums(token));
      a.op(VPERMPS, SCRATCH, of.held(seconds, SCRATCH), of.sums(token));
      a.op(VADDPS, PRODUCT, PRODUCT, SCRATCH);
      a.op(VFMADD213PS, PRODUCT, minimum ? MINIMA : SCALES, of.offsets(token));
      a.op(VMOVUPS_STORE, of.offsets(token), PRODUCT);
    }
  }

  @Override
  public void complete(Vec sums, int token) {
    a.op(VMOVUPS, SCRATCH, of.offsets(token));
    a.op(VFMADD231PS, sums, SCRATCH, excess);
  }
}

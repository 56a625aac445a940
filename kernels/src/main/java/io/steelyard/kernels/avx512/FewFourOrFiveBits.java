package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mask.K2;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTI32X4;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFNMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPERMW;
import static io.steelyard.kernels.assembler.Op.VPMOVZXBD;
import static io.steelyard.kernels.assembler.Op.VPSHUFB;
import static io.steelyard.kernels.assembler.Op.VPSLLVW;
import static io.steelyard.kernels.assembler.Op.VPSRLVD;
import static io.steelyard.kernels.assembler.Op.VPSRLVW;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPTERNLOGD;
import static io.steelyard.kernels.assembler.Vec.zmm;
import static io.steelyard.kernels.avx512.FewTokens.ROWS;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Mask;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.assembler.Vec;

/** {@link FewTokens} of Q4_K and Q5_K. */
final class FewFourOrFiveBits extends FewLargeBlocks {
  /** Two runs: which lanes take which scale, and how far bits go to become their weights' fifth. */
  private record Pair(Runs runs, Mem lanes, Mem shifts) {}

  /** Places in memory of a block's 6-bit numbers and of its two factors, for four rows. */
  private static final int NUMBERS = 0;

  private static final int FACTORS = 64;

  private static final Mask SCALES = K1;
  private static final Mask MINIMA = K2;

  private final boolean five;
  private final Pair[] pairs;
  private final Mem fifth;

  /** The words of 2 bytes that are the factors of four rows. */
  private final Mem factors;

  // After its factors a block has twelve bytes of 6-bit numbers. The first four scales are the low
  // bits of bytes 4 to 7, the first minima those of 8 to 11; the others have their low 4 bits in 12
  // to 15 and the upper 2 in the upper bits of the others.
  private final Mem own;
  private final Mem ownShifts;
  private final Mem ownBits;
  private final Mem upper;
  private final Mem upperBits;

  /** Sums of the runs' halves, where the minima are. */
  private final Mem firsts;

  private final Mem seconds;

  FewFourOrFiveBits(Assembler a, FewTokens of, DataType type) {
    super(a, of, type);
    five = type == DataType.Q5_K;
    fifth = of.bytesOf(0x10);
    // Bits 0 and 2, 1 and 3, 4 and 6, 5 and 7 of bytes become the fifth.
    pairs =
        new Pair[] {
          pair(0, 2, 4, 2), pair(1, 3, 3, 1), pair(4, 6, 0, 2), pair(5, 7, 1, 3),
        };
    factors = of.longs(0x0009_0008_0001_0000L, 0x0019_0018_0011_0010L);
    own = of.longs(0x0F0E_0D0C_0706_0504L, 0x0F0E_0D0C_0B0A_0908L);
    ownShifts = of.longs(0, 0x0000_0004_0000_0000L);
    ownBits = of.longs(0x0F0F_0F0F_3F3F_3F3FL);
    upper = of.longs(0x0706_0504_8080_8080L, 0x0B0A_0908_8080_8080L);
    upperBits = of.longs(0x3030_3030_3030_3030L);
    firsts = of.lanes(i -> i / RUNS * (i % RUNS * 2));
    seconds = of.lanes(i -> i / RUNS * (i % RUNS * 2 + 1));
    a.mov(RAX, 0x00FF);
    a.kmovd(SCALES, RAX);
    a.mov(RAX, 0xFF00);
    a.kmovd(MINIMA, RAX);
  }

  private Pair pair(int first, int second, int firstShift, int secondShift) {
    return new Pair(
        new Runs(first, second),
        of.lanes(i -> i < 8 ? first : second),
        shifts(firstShift, secondShift));
  }

  @Override
  void block() {
    scales();
    for (int p = 0; p < pairs.length; p++) {
      for (int row = 0; row < ROWS; row++) {
        Vec weights = zmm(16 + row);
        nibbles(weights, of.row(row, (five ? 48 : 16) + 64 * (p / 2)), p);
        if (five) {
          Op shift = p < 2 ? VPSLLVW : VPSRLVW;
          upperBits(weights, of.row(row, 16), shift, pairs[p].shifts(), fifth);
        }
      }
      multiply(pairs[p].runs(), pairs[p].lanes());
    }
  }

  private void scales() {
    Vec start = zmm(16);
    Vec numbers = zmm(17);
    Vec more = zmm(18);
    Vec factor = zmm(19);
    for (int row = 0; row < ROWS; row++) {
      of.quarter(row).op(VBROADCASTI32X4, start, of.row(row, 0));
    }
    a.op(VPERMW, factor, of.held(factors, factor), start);
    a.op(VCVTPH2PS, factor, factor.as(32));
    a.op(VMOVUPS_STORE, of.work(FACTORS), factor);
    a.op(VPSHUFB, numbers, start, own);
    a.op(VPSRLVD, numbers, numbers, ownShifts);
    a.op(VPANDD, numbers, numbers, ownBits);
    a.op(VPSHUFB, more, start, upper);
    a.op(VPSRLW_IMM, more, more, 2);
    a.op(VPTERNLOGD, numbers, more, upperBits, OR_OF_AND);
    a.op(VMOVUPS_STORE, of.work(NUMBERS), numbers);
    for (int row = 0; row < ROWS; row++) {
      Vec scales = zmm(20 + row);
      a.op(VPMOVZXBD, scales, of.work(NUMBERS + 16 * row));
      a.op(VCVTDQ2PS, scales, scales);
      a.op(VBROADCASTSS, factor, of.work(FACTORS + 8 * row));
      a.merge(MINIMA).op(VBROADCASTSS, factor, of.work(FACTORS + 8 * row + 4));
      a.op(VMULPS, scales, scales, factor);
    }
    Vec ofToken = zmm(24);
    Vec other = zmm(25);
    for (int token = 0; token < of.tokens(); token++) {
      a.op(VPERMPS, ofToken, of.held(firsts, ofToken), of.sums(token));
      a.op(VPERMPS, other, of.held(seconds, other), of.sums(token));
      a.op(VADDPS, ofToken, ofToken, other);
      a.merge(SCALES).op(VMOVUPS, ofToken, of.scales(token));
      for (int row = 0; row < ROWS; row++) {
        a.merge(MINIMA).op(VFNMADD231PS, of.sum(token, row), zmm(20 + row), ofToken);
        a.op(VMULPS, other, zmm(20 + row), ofToken);
        a.op(VMOVUPS_STORE, of.scaled(token, row), other);
      }
    }
  }
}

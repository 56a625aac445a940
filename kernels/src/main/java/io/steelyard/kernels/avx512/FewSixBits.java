package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFNMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPERMW;
import static io.steelyard.kernels.assembler.Op.VPMOVSXBD;
import static io.steelyard.kernels.assembler.Op.VPSLLVW;
import static io.steelyard.kernels.assembler.Op.VPSRLVW;
import static io.steelyard.kernels.assembler.Vec.zmm;
import static io.steelyard.kernels.avx512.FewTokens.ROWS;
import static io.steelyard.kernels.avx512.FewTokens.SCRATCH;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.assembler.Vec;

/** {@link FewTokens} of Q6_K, which has a scale for 16 weights. */
final class FewSixBits extends FewLargeBlocks {
  // Places in a block: low 4 bits, upper 2, scales, and their factor, which is read with the two
  // bytes before it.
  private static final int UPPER_AT = 128;
  private static final int SCALES_AT = 192;
  private static final int FACTOR_AT = 206;

  private final Mem fifthAndSixth;
  private final Mem[] shifts;
  private final Mem[] lanes;
  private final Mem ofRuns;
  private final Mem excess;

  /** The words of 2 bytes that are the factors of four rows, for a quarter of the lanes each. */
  private final Mem factors;

  FewSixBits(Assembler a, FewTokens of) {
    super(a, of, DataType.Q6_K);
    fifthAndSixth = of.bytesOf(0x30);
    shifts = new Mem[] {shifts(4, 2), shifts(0, 2)};
    lanes = new Mem[RUNS / 2];
    for (int pair = 0; pair < lanes.length; pair++) {
      int first = 4 * pair;
      lanes[pair] = of.lanes(i -> first + i / 4);
    }
    ofRuns = of.lanes(i -> i / 2);
    excess = of.floatsOf(32);
    long next = 8 * 0x0001_0001_0001_0001L;
    long first = 0x0001_0001_0001_0001L;
    factors = of.longs(first, first + next, first + 2 * next, first + 3 * next);
  }

  @Override
  void block() {
    scales();
    for (int pair = 0; pair < lanes.length; pair++) {
      for (int row = 0; row < ROWS; row++) {
        Vec weights = zmm(16 + row);
        nibbles(weights, of.row(row, 64 * (pair / 2)), pair);
        Op shift = pair % 2 == 0 ? VPSLLVW : VPSRLVW;
        Mem upper = of.row(row, UPPER_AT + 32 * (pair / 2));
        upperBits(weights, upper, shift, shifts[pair % 2], fifthAndSixth);
      }
      multiply(new Runs(2 * pair, 2 * pair + 1), lanes[pair]);
    }
  }

  private void scales() {
    Vec factor = zmm(19);
    for (int row = 0; row < ROWS; row++) {
      of.quarter(row).op(VBROADCASTSS, zmm(16), of.row(row, FACTOR_AT));
    }
    a.op(VPERMW, factor, of.held(factors, factor), zmm(16));
    a.op(VCVTPH2PS, factor, factor.as(32));
    a.op(VMOVUPS_STORE, of.work(0), factor);
    for (int row = 0; row < ROWS; row++) {
      Vec scales = zmm(20 + row);
      a.op(VPMOVSXBD, scales, of.row(row, SCALES_AT));
      a.op(VCVTDQ2PS, scales, scales);
      a.op(VBROADCASTSS, factor, of.work(16 * row));
      a.op(VMULPS, scales, scales, factor);
    }
    Vec ofToken = zmm(24);
    Vec tooMuch = zmm(25);
    for (int token = 0; token < of.tokens(); token++) {
      a.op(VPERMPS, ofToken, of.held(ofRuns, ofToken), of.scales(token));
      a.op(VMULPS, tooMuch, of.held(excess, tooMuch), of.sums(token));
      for (int row = 0; row < ROWS; row++) {
        a.op(VFNMADD231PS, of.sum(token, row), zmm(20 + row), tooMuch);
        a.op(VMULPS, SCRATCH, zmm(20 + row), ofToken);
        a.op(VMOVUPS_STORE, of.scaled(token, row), SCRATCH);
      }
    }
  }
}

package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMOVDQU32;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTD;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTW;
import static io.steelyard.kernels.assembler.Op.VPDPBUSD;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPERMT2PS;
import static io.steelyard.kernels.assembler.Op.VPSHUFB;
import static io.steelyard.kernels.assembler.Op.VPSRLVD;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPSUBD;
import static io.steelyard.kernels.assembler.Op.VPTERNLOGD;
import static io.steelyard.kernels.assembler.Vec.zmm;
import static io.steelyard.kernels.avx512.FewTokens.PRODUCT;
import static io.steelyard.kernels.avx512.FewTokens.ROWS;
import static io.steelyard.kernels.avx512.FewTokens.SCRATCH;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.Levels;
import io.steelyard.kernels.avx2.Snippets;

/** {@link FewTokens} of IQ4_XS: four runs of a block at a time, a quarter of the lanes each. */
final class FewExtraSmall extends FewLargeBlocks {
  /** Nibbles begin behind 8 bytes of scales. */
  private static final int NIBBLES_AT = 8;

  private static final Vec LOADED = zmm(28);

  /** The words of four blocks of activations that low and high nibbles are multiplied with. */
  private final Mem low;

  private final Mem high;
  private final Mem table;

  /** Which of 16 scales, two for each run, are those of the first four runs, and of the others. */
  private final Mem[] lanes;

  private final Mem ofRuns;
  private final Mem excess;
  private final Mem lowShifts;
  private final Mem highShifts;
  private final Mem lowBits;
  private final Mem highBits;
  private final Mem tooMuch;

  FewExtraSmall(Assembler a, FewTokens of) {
    super(a, of, DataType.IQ4_XS);
    low = of.lanes(i -> i / 4 * 8 + i % 4);
    high = of.lanes(i -> i / 4 * 8 + 4 + i % 4);
    table = FewNibbles.table(of, DataType.IQ4_XS);
    lanes = new Mem[] {of.lanes(i -> i / 4 * 2), of.lanes(i -> 8 + i / 4 * 2)};
    ofRuns = of.lanes(i -> i / 2);
    excess = of.floatsOf(Levels.least(DataType.IQ4_XS));
    // Six bits: four from the block's second word of 4 bytes, two from the upper half of the first.
    lowShifts = of.lanes(i -> 4 * (i / 2));
    highShifts = of.lanes(i -> 12 + 2 * (i / 2));
    lowBits = of.lanes(i -> 0x0F);
    highBits = of.lanes(i -> 0x30);
    tooMuch = of.lanes(i -> Levels.EXCESS);
  }

  @Override
  void block() {
    scales();
    for (int four = 0; four < 2; four++) {
      for (int row = 0; row < ROWS; row++) {
        Vec lows = zmm(16 + row);
        Vec highs = zmm(20 + row);
        a.op(VMOVDQU32, lows, of.row(row, NIBBLES_AT + 64 * four));
        a.op(VPSRLW_IMM, highs, lows, 4);
        for (Vec weights : new Vec[] {lows, highs}) {
          a.op(VPANDD, weights, weights, of.held(bits, SCRATCH));
          a.op(VPSHUFB, weights, of.held(table, SCRATCH), weights);
        }
      }
      multiply(four);
    }
  }

  /** Multiplies the weights of registers 16 to 23, low nibbles, then high ones, and adds. */
  private void multiply(int four) {
    Vec scale = zmm(27);
    for (int token = 0; token < of.tokens(); token++) {
      activations(zmm(24), token, four, low);
      activations(zmm(25), token, four, high);
      for (int row = 0; row < ROWS; row++) {
        Snippets.clear(a, PRODUCT);
        a.op(VPDPBUSD, PRODUCT, zmm(16 + row), zmm(24));
        a.op(VPDPBUSD, PRODUCT, zmm(20 + row), zmm(25));
        a.op(VCVTDQ2PS, PRODUCT, PRODUCT);
        a.op(VPERMPS, scale, of.held(lanes[four], zmm(26)), of.scaled(token, row));
        a.op(VFMADD231PS, of.sum(token, row), PRODUCT, scale);
      }
    }
  }

  private void activations(Vec to, int token, int four, Mem words) {
    int first = 4 * FewActivations.BLOCK * four;
    a.op(VMOVUPS, to, of.activations(token, first));
    Mem others = of.activations(token, first + 2 * FewActivations.BLOCK);
    a.op(VPERMT2PS, to, of.held(words, LOADED), others);
  }

  private void scales() {
    Vec upper = zmm(24);
    Vec factor = zmm(25);
    for (int row = 0; row < ROWS; row++) {
      Vec scales = zmm(20 + row);
      a.op(VPBROADCASTD, scales, of.row(row, 4));
      a.op(VPSRLVD, scales, scales, of.held(lowShifts, SCRATCH));
      a.op(VPANDD, scales, scales, of.held(lowBits, SCRATCH));
      a.op(VPBROADCASTD, upper, of.row(row, 0));
      a.op(VPSRLVD, upper, upper, of.held(highShifts, SCRATCH));
      a.op(VPTERNLOGD, scales, upper, of.held(highBits, SCRATCH), OR_OF_AND);
      a.op(VPSUBD, scales, scales, of.held(tooMuch, SCRATCH));
      a.op(VCVTDQ2PS, scales, scales);
      a.op(VPBROADCASTW, factor.as(32), of.row(row, 0));
      a.op(VCVTPH2PS, factor, factor.as(32));
      a.op(VMULPS, scales, scales, factor);
    }
    Vec ofToken = zmm(24);
    Vec excessive = zmm(25);
    for (int token = 0; token < of.tokens(); token++) {
      a.op(VPERMPS, ofToken, of.held(ofRuns, ofToken), of.scales(token));
      a.op(VMULPS, excessive, of.held(excess, excessive), of.sums(token));
      for (int row = 0; row < ROWS; row++) {
        a.op(VFMADD231PS, of.sum(token, row), zmm(20 + row), excessive);
        a.op(VMULPS, SCRATCH, zmm(20 + row), ofToken);
        a.op(VMOVUPS_STORE, of.scaled(token, row), SCRATCH);
      }
    }
  }
}

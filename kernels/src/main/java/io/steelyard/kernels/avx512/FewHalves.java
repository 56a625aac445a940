package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R14;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Mask.K2;
import static io.steelyard.kernels.assembler.Mask.K3;
import static io.steelyard.kernels.assembler.Mask.K7;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VMOVDQU16;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VPERMT2PS;
import static io.steelyard.kernels.assembler.Op.VPERMW;
import static io.steelyard.kernels.assembler.Vec.zmm;
import static io.steelyard.kernels.avx512.FewTokens.PRODUCT;
import static io.steelyard.kernels.avx512.FewTokens.ROWS;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.Snippets;
import java.util.stream.LongStream;

/**
 * {@link FewNibbles} of blocks of whole 2-byte words with scales of float16: Q4_0, Q4_1 and IQ4_NL.
 */
final class FewHalves extends FewNibbles {
  /** Where two loads begin that hold all four blocks' bytes in whole 4-byte words. */
  private final int begin;

  private final int other;

  /** The words of either load that are weights. */
  private final Mem weights;

  /** The 2-byte words of scales and of minima, for every row. */
  private final Mem halves;

  FewHalves(Assembler a, FewTokens of, DataType type) {
    super(a, of, type);
    begin = minimum ? 0 : 2;
    other = minimum ? 16 : 8;
    // From byte 2 on, Q4_0's first and third block; from byte 8 on, its second and fourth.
    int[] firstWords = minimum ? new int[] {1, 6, 11, 28} : new int[] {0, 19, 9, 28};
    weights = of.lanes(i -> firstWords[i % 4] + i / 4);
    long scale = halfWords(0);
    long next = halfWords(2);
    halves = of.longs(scale, scale, scale, scale, next, next, next, next);
    // Of one to three blocks at a row's end, nothing beyond them is touched: K3 selects their
    // 2-byte words, K2 and K7 those of either load.
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
  void weights(Vec to, int row, boolean some) {
    if (some) {
      a.zero(K2).op(VMOVDQU16, to, of.row(row, begin));
      a.zero(K7).op(VMOVDQU16, PRODUCT, of.row(row, other));
      a.op(VPERMT2PS, to, of.held(weights, LOADED), PRODUCT);
    } else {
      a.op(VMOVUPS, to, of.row(row, begin));
      a.op(VPERMT2PS, to, of.held(weights, LOADED), of.row(row, other));
    }
  }

  @Override
  void scales(boolean some) {
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
    toFloats(found);
  }
}

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
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPERMT2PS;
import static io.steelyard.kernels.assembler.Op.VPERMW;
import static io.steelyard.kernels.assembler.Op.VPORD;
import static io.steelyard.kernels.assembler.Op.VPSHUFB;
import static io.steelyard.kernels.assembler.Op.VPSRLVD;
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
import io.steelyard.kernels.avx2.FifthBits;
import io.steelyard.kernels.avx2.Snippets;
import java.util.stream.IntStream;

/**
 * {@link FewNibbles} of Q5_0 and Q5_1, with {@link FifthBits}. The word of a block, moved down, has
 * the bits of a lane's four low nibbles in its first byte, and those of the high ones in the third.
 */
final class FewFives extends FewNibbles {
  /** Where two loads begin that hold the blocks' nibbles and words in whole lanes. */
  private final int begin;

  private final int other;

  // Lanes of either load, for every quarter: those of the nibbles, and those of the words.
  private final Mem nibbles;
  private final Mem words;

  /** The lanes that have the scales, of a load from the first byte and of the other one. */
  private final Mem scales;

  /** Where in those lanes scales are, then minima. */
  private final Mem halves;

  /** By how much the words are moved down, which bytes are copies, and what they keep. */
  private final Mem down;

  private final Mem firsts;
  private final Mem thirds;
  private final Mem own;

  /** What becomes of the bits. */
  private final Mem table;

  FewFives(Assembler a, FewTokens of, DataType type) {
    super(a, of, type);
    // Of 22 bytes a block, the second and fourth block begin in the middle of a lane.
    begin = minimum ? 0 : 2;
    other = minimum ? 32 : 24;
    int[] firstNibbles = minimum ? new int[] {2, 8, 22, 28} : new int[] {1, 17, 12, 28};
    int[] blockWords = minimum ? new int[] {1, 7, 21, 27} : new int[] {0, 16, 11, 27};
    int[] blockScales = minimum ? new int[] {0, 6, 20, 26} : new int[] {0, 5, 11, 26};
    nibbles = of.lanes(i -> firstNibbles[i % 4] + i / 4);
    words = of.lanes(i -> blockWords[i % 4]);
    scales = of.lanes(i -> blockScales[i % 4]);
    halves = of.longs(IntStream.range(0, 8).mapToLong(this::halves).toArray());
    down = of.lanes(i -> i / 4 * 4);
    firsts = of.longs(FifthBits.COPIES, FifthBits.MORE_COPIES);
    long two = 0x0202_0202_0202_0202L;
    thirds = of.longs(FifthBits.COPIES + two, FifthBits.MORE_COPIES + two);
    own = of.longs(FifthBits.OWN * 0x1_0000_0001L);
    table = of.longs(FifthBits.TABLE, FifthBits.MORE_TABLE);
    // Of one to three blocks at a row's end, nothing beyond them is touched: K3 selects their
    // 2-byte words, K2 and K7 those of either load.
    a.mov(RAX, at(R9));
    a.and(RAX, 3);
    a.lea(RBP, at(RAX, RAX, 2));
    a.lea(RBP, at(RBP, RAX, 8));
    if (minimum) {
      a.add(RBP, RAX);
    }
    Snippets.first(a, K3, RBP, R14);
    a.sub(RBP, begin / 2);
    Snippets.first(a, K2, RBP, R14);
    Label reached = new Label();
    a.sub(RBP, (other - begin) / 2);
    a.jump(Condition.NOT_LESS, reached);
    a.mov(RBP, 0);
    a.place(reached);
    Snippets.first(a, K7, RBP, R14);
  }

  /** The numbers of four 2-byte words: of 16 lanes' scales, or of their minima. */
  private long halves(int four) {
    long numbers = 0;
    for (int i = 3; i >= 0; i--) {
      int lane = (4 * four + i) % 16;
      boolean upper = minimum ? four >= 4 : lane % 2 == 1;
      numbers = numbers << 16 | (2L * lane + (upper ? 1 : 0));
    }
    return numbers;
  }

  /** Loads lanes of two loads of a row, of which the first begins at a byte. */
  private void load(Vec to, Mem lanes, int row, int first, boolean some) {
    if (some) {
      a.zero(first == 0 ? K3 : K2).op(VMOVDQU16, to, of.row(row, first));
      a.zero(K7).op(VMOVDQU16, PRODUCT, of.row(row, other));
      a.op(VPERMT2PS, to, of.held(lanes, SCRATCH), PRODUCT);
    } else {
      a.op(VMOVUPS, to, of.row(row, first));
      a.op(VPERMT2PS, to, of.held(lanes, SCRATCH), of.row(row, other));
    }
  }

  @Override
  void weights(Vec to, int row, boolean some) {
    load(to, nibbles, row, begin, some);
  }

  @Override
  void fifthBits(Vec lows, Vec highs, int row, boolean some) {
    load(LOADED, words, row, begin, some);
    a.op(VPSRLVD, LOADED, LOADED, of.held(down, SCRATCH));
    for (int half = 0; half < 2; half++) {
      Vec to = half == 0 ? lows : highs;
      a.op(VPSHUFB, PRODUCT, LOADED, of.held(half == 0 ? firsts : thirds, SCRATCH));
      a.op(VPANDD, PRODUCT, PRODUCT, of.held(own, SCRATCH));
      a.op(VPSHUFB, PRODUCT, of.held(table, SCRATCH), PRODUCT);
      a.op(VPORD, to, to, PRODUCT);
    }
  }

  @Override
  void scales(boolean some) {
    Vec found = zmm(25);
    for (int row = 0; row < ROWS; row++) {
      load(LOADED, scales, row, 0, some);
      of.quarter(row).op(VMOVUPS, found, LOADED);
    }
    a.op(VPERMW, found, of.held(halves, SCRATCH), found);
    toFloats(found);
  }
}

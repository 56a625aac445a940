package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R12;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VINSERTI128;
import static io.steelyard.kernels.assembler.Op.VMAXPS;
import static io.steelyard.kernels.assembler.Op.VMOVDQU;
import static io.steelyard.kernels.assembler.Op.VMOVDQU_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPABSB;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPERMILPS;
import static io.steelyard.kernels.assembler.Op.VPMADDUBSW;
import static io.steelyard.kernels.assembler.Op.VPMADDWD;
import static io.steelyard.kernels.assembler.Op.VPSHUFB;
import static io.steelyard.kernels.assembler.Op.VPSIGNB;
import static io.steelyard.kernels.assembler.Op.VPSLLD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRLD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;

/**
 * What {@link FewTokens} says, of IQ4_NL, IQ4_XS and MXFP4: as {@link FewUnsigned}, with levels in
 * the nibbles' places. Those of MXFP4 are small enough to become unsigned. Those of the others have
 * signs, which activations take over, and two of their products fill 16 bits.
 */
final class FewLevels extends FewUnsigned {
  // Places on the stack, behind those of the other types: levels, what scales are made with, and
  // constants whose registers the weights' magnitudes have.
  private static final int TABLE = STACK;
  private static final int FIRST_OF_SCALES = STACK + 32;
  private static final int SECOND_OF_SCALES = STACK + 64;
  private static final int LOW_BITS = STACK + 96;
  private static final int ONE_EACH = STACK + 128;
  private static final int ALL = STACK + 160;

  /** Where a large block has its nibbles. */
  private static final int NIBBLES_OF_RUNS = 8;

  private final boolean vnni;

  private FewLevels(Assembler a, DataType type, int tokens, boolean vnni) {
    super(a, type, tokens);
    this.vnni = vnni;
  }

  /** As {@link FewTokens#of}. */
  static Function of(DataType type, int tokens, boolean vnni) {
    return Function.avx2(a -> new FewLevels(a, type, tokens, vnni).write(ALL));
  }

  private boolean signed() {
    return type != DataType.MXFP4;
  }

  @Override
  int excess() {
    return signed() ? 0 : -Levels.least(type);
  }

  /** Of signed weights; in the place of constants. */
  private static Vec magnitudes(int half) {
    return half == 0 ? ONES : NIBBLES;
  }

  @Override
  void constants() {
    Levels.constants(a, type, -excess());
    a.op(VMOVDQU_STORE, at(RSP, TABLE), Levels.TABLE);
    a.op(VMOVDQU_STORE, at(RSP, FIRST_OF_SCALES), Levels.FIRST_OF_SCALES);
    a.op(VMOVDQU_STORE, at(RSP, SECOND_OF_SCALES), Levels.SECOND_OF_SCALES);
    super.constants();
    a.op(VMOVDQU_STORE, at(RSP, LOW_BITS), NIBBLES);
    a.op(VMOVDQU_STORE, at(RSP, ONE_EACH), ONES);
  }

  /** The scales of IQ4_XS lie in the block. */
  @Override
  void large() {
    ask(type.blockBytes());
    a.op(VMOVDQU, Levels.FIRST_OF_SCALES, at(RSP, FIRST_OF_SCALES));
    a.op(VMOVDQU, Levels.SECOND_OF_SCALES, at(RSP, SECOND_OF_SCALES));
    Levels.scales(a, SCALE, weights(0), weights(1), at(R12));
    a.op(VPERMILPS, SCALES_OF_EIGHT, SCALE, 0xE4);
    for (int pair = 0; pair < APART; pair++) {
      Mem first = at(R12, NIBBLES_OF_RUNS + 16 * pair);
      nibbles(first, first.plus(16 * APART));
      multiply(pair);
    }
  }

  /** Those of MXFP4 are halves of powers of two, whose exponents are the blocks' first bytes. */
  @Override
  void scales() {
    if (signed()) {
      super.scales();
      return;
    }
    Vec scales = SCALES_OF_EIGHT;
    a.op(VINSERTI128, scales, weights(0), weights(1).as(16), 1);
    a.op(VPSLLD_IMM, scales, scales, 24);
    a.op(VPSRLD_IMM, scales, scales, 1);
    a.op(VMAXPS, scales, scales, at(RSP, SECOND_OF_SCALES));
    a.op(VMULPS, scales, scales, at(RSP, FIRST_OF_SCALES));
  }

  @Override
  void nibbles(Mem first, Mem second) {
    load(0, first, second);
    a.op(VPSRLW_IMM, weights(1), weights(0), 4);
    a.op(VMOVDQU, OTHER, at(RSP, TABLE));
    for (int half = 0; half < 2; half++) {
      a.op(VPAND, weights(half), weights(half), at(RSP, LOW_BITS));
      a.op(VPSHUFB, weights(half), OTHER, weights(half));
      if (signed()) {
        a.op(VPABSB, magnitudes(half), weights(half));
      }
    }
  }

  @Override
  void multiply(Mem first, Mem last) {
    if (!signed()) {
      super.multiply(first, last);
      return;
    }
    for (int half = 0; half < 2; half++) {
      Vec product = half == 0 ? PRODUCT : OTHER;
      a.op(VMOVDQU, product, half == 0 ? first : last);
      a.op(VPSIGNB, product, product, weights(half));
      a.op(VPMADDUBSW, product, magnitudes(half), product);
    }
    a.op(VPMADDWD, PRODUCT, PRODUCT, at(RSP, ONE_EACH));
    Snippets.addWords(a, vnni, PRODUCT, OTHER, at(RSP, ONE_EACH), OTHER);
  }
}

package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R12;
import static io.steelyard.kernels.assembler.Gpr.R13;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VINSERTI128;
import static io.steelyard.kernels.assembler.Op.VMOVDQU;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTW;
import static io.steelyard.kernels.assembler.Op.VPERMILPS;
import static io.steelyard.kernels.assembler.Op.VPMADDUBSW;
import static io.steelyard.kernels.assembler.Op.VPMADDWD;
import static io.steelyard.kernels.assembler.Op.VPMOVSXBD;
import static io.steelyard.kernels.assembler.Op.VPOR;
import static io.steelyard.kernels.assembler.Op.VPSHUFB;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPSUBW;
import static io.steelyard.kernels.assembler.Op.VPUNPCKHQDQ;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;

/**
 * What {@link FewTokens} says, of Q6_K, whose weights of 6 bits are multiplied as unsigned bytes
 * with {@link ByteActivations}. What they are less is multiplied by itself and taken away, as
 * words: 63 and 32 times twice 127 leave room there.
 *
 * <p>Of the block's eight runs the first and the fifth are a pair, and so on. A register has 16
 * weights of either: the first 16, or the last, each with its own scale.
 */
final class FewSixBits extends RowLoop {
  /** Where the block's parts begin. */
  private static final int HIGH_BITS = 128;

  private static final int SCALES_OF_RUNS = 192;
  private static final int SCALE_OF_ALL = 208;

  /** Runs of a block. */
  private static final int RUNS = 8;

  /** Places on the stack: the order that parts scales of first halves from those of second ones. */
  private static final int ORDER = 0;

  private static final int STACK = 64;

  private static final Vec NIBBLES = ymm(15);
  private static final Vec ONES = ymm(14);
  private static final Vec UPPER_TWO = ymm(13);
  private static final Vec EXCESS = ymm(12);

  private static final Vec HIGH = ymm(4);
  private static final Vec LOW = ymm(5);
  private static final Vec WEIGHTS = ymm(6);
  private static final Vec SCALE = ymm(7);
  private static final Vec PRODUCT = ymm(8);
  private static final Vec OTHER = ymm(9);

  private FewSixBits(Assembler a, int tokens) {
    super(a, DataType.Q6_K, tokens);
  }

  static Function of(int tokens) {
    return Function.avx2(a -> new FewSixBits(a, tokens).write(STACK));
  }

  /** Scales of all runs' first 16 weights, or of their last. */
  private static Vec scales(int half) {
    return ymm(10 + half);
  }

  @Override
  void constants() {
    Snippets.constant(a, NIBBLES, 0x0F0F_0F0F, RAX);
    Snippets.constant(a, ONES, 0x0001_0001, RAX);
    Snippets.constant(a, UPPER_TWO, 0x3030_3030, RAX);
    Snippets.constant(a, EXCESS, 0x2020_2020, RAX);
    Unpack.longs(a, ORDER, 0x0E0C_0A08_0604_0200L, 0x0F0D_0B09_0705_0301L);
  }

  @Override
  void products() {
    Label block = a.loop();
    ask(type.blockBytes());
    scales();
    for (int half = 0; half < 2; half++) {
      load(HIGH, HIGH_BITS + 16 * half, 32);
      for (int pair = 0; pair < 2; pair++) {
        load(LOW, 32 * pair + 16 * half, 64);
        a.op(VPAND, WEIGHTS, LOW, NIBBLES);
        multiply(pair, half);
        a.op(VPSRLW_IMM, WEIGHTS, LOW, 4);
        a.op(VPAND, WEIGHTS, WEIGHTS, NIBBLES);
        multiply(pair + 2, half);
      }
    }
    a.add(R12, type.blockBytes());
    a.add(RBX, RUNS * ByteActivations.BLOCK);
    a.add(R13, RUNS * ByteActivations.SCALES);
    a.sub(RBP, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }

  private void scales() {
    a.op(VMOVDQU, PRODUCT.as(16), at(R12, SCALES_OF_RUNS));
    a.op(VPSHUFB, PRODUCT.as(16), PRODUCT.as(16), at(RSP, ORDER));
    a.op(VPUNPCKHQDQ, OTHER.as(16), PRODUCT.as(16), PRODUCT.as(16));
    a.op(VPMOVSXBD, scales(0), PRODUCT.as(16));
    a.op(VPMOVSXBD, scales(1), OTHER.as(16));
    a.op(VPBROADCASTW, SCALE.as(16), at(R12, SCALE_OF_ALL));
    a.op(VCVTPH2PS, SCALE, SCALE.as(16));
    for (int half = 0; half < 2; half++) {
      a.op(VCVTDQ2PS, scales(half), scales(half));
      a.op(VMULPS, scales(half), scales(half), SCALE);
    }
  }

  /** 16 bytes of a run, and of the one that is its pair's other. */
  private void load(Vec to, int offset, int apart) {
    Mem first = at(R12, offset);
    a.op(VMOVDQU, to.as(16), first);
    a.op(VINSERTI128, to, to, first.plus(apart), 1);
  }

  /** Adds the upper bits to a pair's weights, and multiplies with all tokens' activations. */
  private void multiply(int pair, int half) {
    int up = 4 - 2 * pair;
    Vec bits = up == 0 ? HIGH : PRODUCT;
    if (up != 0) {
      Unpack.shift(a, bits, HIGH, up);
    }
    a.op(VPAND, PRODUCT, bits, UPPER_TWO);
    a.op(VPOR, WEIGHTS, WEIGHTS, PRODUCT);
    a.op(VPERMILPS, SCALE, scales(half), 0x55 * pair);
    for (int token = 0; token < tokens; token++) {
      Mem activations = token(token, 2 * ByteActivations.BLOCK * pair + 32 * half);
      a.op(VPMADDUBSW, PRODUCT, WEIGHTS, activations);
      a.op(VPMADDUBSW, OTHER, EXCESS, activations);
      a.op(VPSUBW, PRODUCT, PRODUCT, OTHER);
      a.op(VPMADDWD, PRODUCT, PRODUCT, ONES);
      a.op(VCVTDQ2PS, PRODUCT, PRODUCT);
      a.op(VMULPS, PRODUCT, PRODUCT, ofToken(R13, token, 2 * ByteActivations.SCALES * pair));
      a.op(VFMADD231PS, sum(token), PRODUCT, SCALE);
    }
  }

  @Override
  void store() {
    a.mov(RAX, R8);
    for (int token = 0; token < tokens; token++) {
      Snippets.reduce(a, VADDPS, sum(token), PRODUCT);
      a.op(VMOVSS_STORE, at(RAX), sum(token).as(16));
      a.add(RAX, at(R9, 16));
    }
  }
}

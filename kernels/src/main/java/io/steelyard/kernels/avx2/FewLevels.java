package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R12;
import static io.steelyard.kernels.assembler.Gpr.R13;
import static io.steelyard.kernels.assembler.Gpr.R15;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTI128;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VEXTRACTF128;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VINSERTI128;
import static io.steelyard.kernels.assembler.Op.VMOVDQU;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTW;
import static io.steelyard.kernels.assembler.Op.VPERMILPS;
import static io.steelyard.kernels.assembler.Op.VPMADDWD;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPUNPCKHBW;
import static io.steelyard.kernels.assembler.Op.VPUNPCKLBW;
import static io.steelyard.kernels.assembler.Op.VPUNPCKLQDQ;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;

/**
 * What {@link FewTokens} says, of IQ4_NL, MXFP4 and IQ4_XS: two rows at a time, which lie next to
 * each other, each in 16 bytes of every register. A row that is left over is taken twice. So the
 * same instructions serve 64 weights, and a token's sum waits half as often for the one before. One
 * token's activations come from where {@link FewActivations} has spread them over both rows.
 *
 * <p>Weights are unsigned, so that bytes become words without their sign; what they are too large
 * by is taken off with the activations' sums.
 */
final class FewLevels extends RowLoop {
  private static final Vec NIBBLES = ymm(15);

  /** What an eighth of the activations' sum is multiplied with: twice the excess. */
  private static final Vec FACTOR = ymm(9);

  private static final Vec SCALE = ymm(8);
  private static final Vec PRODUCT = ymm(10);
  private static final Vec OTHER = ymm(11);

  /** Runs of 32 weights that are taken at a time. */
  private static final int STEP = 4;

  /** How far ahead rows are asked for, in bytes: about what comes while memory answers. */
  private static final int AHEAD = 4096;

  private static final int LINE = 64;

  /** A large block's scales on the stack, and the second row's behind them. */
  private static final int SECOND = 32;

  private static final int STACK = 64;

  private final Gpr[] rows = {R12, R15};

  private FewLevels(Assembler a, DataType type, int tokens) {
    super(a, type, tokens);
  }

  static Function of(DataType type, int tokens) {
    return Function.avx2(a -> new FewLevels(a, type, tokens).write(2, STACK));
  }

  // R12 and R15 have the rows' blocks, R13 the block's operands for one token.

  @Override
  void otherRows(Mem rowBytes) {
    Label both = new Label();
    a.mov(R15, RDI);
    a.cmp(RSI, 1);
    a.jump(Condition.EQUAL, both);
    a.add(R15, rowBytes);
    a.place(both);
  }

  /** A few blocks at a time, then one by one. */
  @Override
  void products() {
    Label rest = new Label();
    Label end = new Label();
    int step = STEP / runs();
    if (step > 1) {
      a.sub(RBP, step);
      a.jump(Condition.LESS, rest);
      Label some = a.loop();
      blocks(step);
      a.sub(RBP, step);
      a.jump(Condition.NOT_LESS, some);
      a.place(rest);
      a.add(RBP, step);
      a.jump(Condition.EQUAL, end);
    }
    Label one = a.loop();
    blocks(1);
    a.sub(RBP, 1);
    a.jump(Condition.NOT_EQUAL, one);
    a.place(end);
  }

  private void blocks(int count) {
    for (int at = 0; at < count * type.blockBytes(); at += LINE) {
      for (Gpr row : rows) {
        a.prefetcht1(at(row, AHEAD + at));
      }
    }
    for (int i = 0; i < count; i++) {
      block(i * type.blockBytes(), i);
    }
    for (Gpr row : rows) {
      a.add(row, count * type.blockBytes());
    }
    a.add(RBX, count * runs() * FewActivations.BLOCK);
    a.add(R13, count * runs() * FewActivations.SPREAD);
  }

  private int runs() {
    return type.blockSize() / 32;
  }

  private static Vec weights(int quarter) {
    return ymm(4 + quarter);
  }

  @Override
  void constants() {
    Snippets.constant(a, NIBBLES, 0x0F0F_0F0F, RAX);
    int excess = Levels.least(type);
    Levels.constants(a, type, excess);
    // Four lanes add an eighth each.
    Snippets.constant(a, FACTOR, 2f * excess, RAX);
  }

  /**
   * Multiplies a block of either row.
   *
   * @param at its distance from R12 and R15
   * @param first the block's first run of activations
   */
  private void block(int at, int first) {
    Mem upper = at(rows[0], at);
    Mem lower = at(rows[1], at);
    switch (type) {
      case IQ4_XS -> {
        Levels.scales(a, ymm(4), ymm(5), ymm(6), upper);
        a.op(VMOVUPS_STORE, at(RSP), ymm(4));
        Levels.scales(a, ymm(4), ymm(5), ymm(6), lower);
        a.op(VMOVUPS_STORE, at(RSP, SECOND), ymm(4));
      }
      case MXFP4 -> Levels.powersOfTwo(a, SCALE, OTHER, upper, lower);
      default -> halves(upper, lower);
    }
    int nibbles = type.blockBytes() - 16 * runs();
    for (int run = 0; run < runs(); run++) {
      if (type == DataType.IQ4_XS) {
        a.op(VBROADCASTSS, SCALE.as(16), at(RSP, 4 * run));
        a.op(VBROADCASTSS, OTHER.as(16), at(RSP, SECOND + 4 * run));
        a.op(VINSERTI128, SCALE, SCALE, OTHER.as(16), 1);
      }
      load(upper.plus(nibbles + 16 * run), lower.plus(nibbles + 16 * run));
      for (int token = 0; token < tokens; token++) {
        multiply(token, first + run);
      }
    }
  }

  /** A block's float16: each row's in its lanes. */
  private void halves(Mem first, Mem second) {
    a.op(VPBROADCASTW, SCALE.as(16), first);
    a.op(VPBROADCASTW, OTHER.as(16), second);
    a.op(VPUNPCKLQDQ, SCALE.as(16), SCALE.as(16), OTHER.as(16));
    a.op(VCVTPH2PS, SCALE, SCALE.as(16));
  }

  /** 32 weights of either row as words: eight a register. */
  private void load(Mem first, Mem second) {
    Vec low = weights(0);
    Vec high = weights(2);
    a.op(VMOVDQU, low.as(16), first);
    a.op(VINSERTI128, low, low, second, 1);
    a.op(VPSRLW_IMM, high, low, 4);
    Snippets.clear(a, OTHER);
    for (int half = 0; half < 2; half++) {
      Vec bytes = weights(2 * half);
      a.op(VPAND, bytes, bytes, NIBBLES);
      Levels.look(a, bytes);
      a.op(VPUNPCKHBW, weights(2 * half + 1), bytes, OTHER);
      a.op(VPUNPCKLBW, bytes, bytes, OTHER);
    }
  }

  /** Multiplies with a token's activations; of one token alone they are spread over all lanes. */
  private void multiply(int token, int run) {
    Mem values = token(token, run * FewActivations.BLOCK);
    Mem spread = at(R13, run * FewActivations.SPREAD);
    for (int quarter = 0; quarter < 4; quarter++) {
      Vec product = quarter == 0 ? PRODUCT : OTHER;
      if (tokens == 1) {
        a.op(VPMADDWD, product, weights(quarter), spread.plus(32 * quarter));
      } else {
        a.op(VBROADCASTI128, product, values.plus(16 * quarter));
        a.op(VPMADDWD, product, weights(quarter), product);
      }
      if (quarter > 0) {
        a.op(VPADDD, PRODUCT, PRODUCT, OTHER);
      }
    }
    a.op(VCVTDQ2PS, PRODUCT, PRODUCT);
    if (tokens == 1) {
      a.op(VMULPS, PRODUCT, PRODUCT, spread.plus(FewActivations.SPREAD_SCALE));
    } else {
      a.op(VBROADCASTSS, OTHER, values.plus(FewActivations.SCALE));
      a.op(VMULPS, PRODUCT, PRODUCT, OTHER);
    }
    sum(sum(token), spread, values);
  }

  private void sum(Vec sum, Mem spread, Mem values) {
    Mem spreadEighth = spread.plus(FewActivations.SPREAD_EIGHTH);
    if (tokens > 1) {
      a.op(VBROADCASTSS, OTHER, values.plus(FewActivations.EIGHTH_OF_SUM));
    }
    if (tokens == 1) {
      a.op(VFMADD231PS, PRODUCT, FACTOR, spreadEighth);
    } else {
      a.op(VFMADD231PS, PRODUCT, FACTOR, OTHER);
    }
    a.op(VFMADD231PS, sum, PRODUCT, SCALE);
  }

  /** Stores the first row's products, and the second's unless the first was the last. */
  @Override
  void store(Label end) {
    for (int row = 0; row < 2; row++) {
      a.mov(RAX, R8);
      for (int token = 0; token < tokens; token++) {
        Vec sum = sum(token);
        if (row == 0) {
          for (int order : new int[] {0x4E, 0xB1}) {
            a.op(VPERMILPS, OTHER, sum, order);
            a.op(VADDPS, sum, sum, OTHER);
          }
        } else {
          a.op(VEXTRACTF128, sum.as(16), sum, 1);
        }
        a.op(VMOVSS_STORE, at(RAX, 4 * row), sum.as(16));
        a.add(RAX, at(R9, 16));
      }
      if (row == 0) {
        a.cmp(RSI, 1);
        a.jump(Condition.EQUAL, end);
      }
    }
  }
}

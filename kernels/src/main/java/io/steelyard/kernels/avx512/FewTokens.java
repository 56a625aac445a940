package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R12;
import static io.steelyard.kernels.assembler.Gpr.R13;
import static io.steelyard.kernels.assembler.Gpr.R14;
import static io.steelyard.kernels.assembler.Gpr.R15;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mask.K3;
import static io.steelyard.kernels.assembler.Mask.K4;
import static io.steelyard.kernels.assembler.Mask.K5;
import static io.steelyard.kernels.assembler.Mask.K6;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTI32X4;
import static io.steelyard.kernels.assembler.Op.VBROADCASTI64X4;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD213PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VINSERTI64X4;
import static io.steelyard.kernels.assembler.Op.VMOVDQU32;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTW;
import static io.steelyard.kernels.assembler.Op.VPDPBUSD;
import static io.steelyard.kernels.assembler.Op.VPERMILPS;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPEXTRD_STORE;
import static io.steelyard.kernels.assembler.Op.VPMOVSXBD;
import static io.steelyard.kernels.assembler.Op.VPMOVZXWD;
import static io.steelyard.kernels.assembler.Op.VPORD;
import static io.steelyard.kernels.assembler.Op.VPSLLD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPXORD;
import static io.steelyard.kernels.assembler.Op.VSHUFF32X4;
import static io.steelyard.kernels.assembler.Vec.ymm;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mask;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.Snippets;
import io.steelyard.kernels.avx2.Unpack;
import io.steelyard.kernels.machine.Function;

/**
 * Products of rows as they lie in the file with one to four tokens: what decoding does. Bound by
 * memory, so there is time to be exact: activations have 16 bits to the weights' 8, as a high and a
 * low byte.
 *
 * <p>Four rows are multiplied at a time. With quantised weights their lanes share registers: four
 * lanes for each of four rows, or eight for each of two. A token's sums take the same steps however
 * many tokens there are.
 *
 * <p>Arguments of its functions: the first row; bytes from one row to the next; activations; bytes
 * from one token's activations to the next; where the first token's products go; the address of six
 * longs: blocks of a row (for types without blocks, values); groups of four rows; bytes from one
 * token's products to the next; bytes from one product of a group to the next; bytes from a token's
 * activations to the sums of its blocks; and bytes from one group's first row to the next's, whose
 * products lie next to each other. So a group's rows can be far apart, and each be the beginning of
 * a long stream.
 */
final class FewTokens {
  /** The most tokens of one call. */
  static final int TOKENS = 4;

  /** Rows of a group. */
  static final int ROWS = 4;

  private static final int UPPER_HALF = 0xFF00;

  /** Place of the count of groups on the stack. */
  private static final int GROUPS = 64 * ROWS;

  private static final int STACK = GROUPS + 16;

  private final Assembler a;
  private final DataType type;
  private final int tokens;

  private FewTokens(Assembler a, DataType type, int tokens) {
    this.a = a;
    this.type = type;
    this.tokens = tokens;
  }

  static Function of(DataType type, int tokens) {
    return Function.of(a -> new FewTokens(a, type, tokens).write());
  }

  // Registers: RDI rows, RSI bytes of a row, R10 three times that; RDX activations, RCX bytes of a
  // token's, R11 three times that; R8 products; R9 the longs; R12 the block in the first row, RBX
  // the block's activations, R13 the sums of its blocks, RBP counts blocks; the stack has 64 bytes
  // for each row, then the count of groups.

  private void write() {
    Gpr[] kept = {RBX, RBP, R12, R13, R14, R15};
    for (Gpr register : kept) {
      a.push(register);
    }
    a.sub(RSP, STACK);
    a.lea(R10, at(RSI, RSI, 2));
    a.lea(R11, at(RCX, RCX, 2));
    mask(K1, UPPER_HALF);
    constants();
    a.mov(RAX, at(R9, 8));
    a.mov(at(RSP, GROUPS), RAX);
    Label group = a.loop();
    a.mov(R12, RDI);
    a.mov(RBX, RDX);
    a.mov(R13, RDX);
    a.add(R13, at(R9, 32));
    a.mov(RBP, at(R9));
    for (int i = 0; i < sums(); i++) {
      a.op(VPXORD, zmm(i), zmm(i), zmm(i));
    }
    switch (type) {
      case F32, F16, BF16 -> floats();
      case Q8_0 -> bytes();
      case Q4_0, Q4_1 -> nibbles();
      case Q4_K, Q5_K, Q6_K -> largeBlocks();
    }
    store();
    a.add(RDI, at(R9, 40));
    a.add(R8, Float.BYTES);
    a.mov(RAX, at(RSP, GROUPS));
    a.sub(RAX, 1);
    a.mov(at(RSP, GROUPS), RAX);
    a.jump(Condition.NOT_EQUAL, group);
    a.add(RSP, STACK);
    for (int i = kept.length - 1; i >= 0; i--) {
      a.pop(kept[i]);
    }
  }

  private boolean isFloat() {
    return type.blockSize() == 1;
  }

  private boolean isNibbles() {
    return type == DataType.Q4_0 || type == DataType.Q4_1;
  }

  /** Registers that hold a token's sums. */
  private int parts() {
    return isFloat() ? 4 : isNibbles() ? 1 : 2;
  }

  private int sums() {
    return tokens * parts();
  }

  private Vec sum(int token, int part) {
    return zmm(token * parts() + part);
  }

  private Mem row(int row, int offset) {
    return switch (row) {
      case 0 -> at(R12, offset);
      case 1 -> at(R12, RSI, 1, offset);
      case 2 -> at(R12, RSI, 2, offset);
      default -> at(R12, R10, 1, offset);
    };
  }

  private Mem token(int token, int offset) {
    return switch (token) {
      case 0 -> at(RBX, offset);
      case 1 -> at(RBX, RCX, 1, offset);
      case 2 -> at(RBX, RCX, 2, offset);
      default -> at(RBX, R11, 1, offset);
    };
  }

  // ---- Types without blocks: 16 values of each row at a time.

  private void floats() {
    Label rest = new Label();
    Label end = new Label();
    a.mov(RAX, RBP);
    a.and(RAX, 15);
    a.shr(RBP, 4);
    a.test(RBP, RBP);
    a.jump(Condition.EQUAL, rest);
    Label step = a.loop();
    floatStep(false);
    a.add(R12, 16 * type.blockBytes());
    a.add(RBX, 64);
    a.sub(RBP, 1);
    a.jump(Condition.NOT_EQUAL, step);
    a.place(rest);
    a.test(RAX, RAX);
    a.jump(Condition.EQUAL, end);
    Snippets.first(a, K3, RAX, R14);
    floatStep(true);
    a.place(end);
  }

  private Assembler lanes(boolean some) {
    return some ? a.zero(K3) : a;
  }

  private void floatStep(boolean some) {
    for (int row = 0; row < ROWS; row++) {
      Vec weights = zmm(20 + row);
      switch (type) {
        case F32 -> lanes(some).op(VMOVUPS, weights, row(row, 0));
        case F16 -> lanes(some).op(VCVTPH2PS, weights, row(row, 0));
        default -> {
          lanes(some).op(VPMOVZXWD, weights, row(row, 0));
          a.op(VPSLLD_IMM, weights, weights, 16);
        }
      }
    }
    for (int token = 0; token < tokens; token++) {
      lanes(some).op(VMOVUPS, zmm(24), token(token, 0));
      for (int row = 0; row < ROWS; row++) {
        a.op(VFMADD231PS, sum(token, row), zmm(20 + row), zmm(24));
      }
    }
  }

  // ---- Quantised types.

  private static final Vec BITS = zmm(31);
  private static final Vec HIGH_BITS = zmm(29);

  /** Indices 0, 4, 8 and 12. */
  private static final Vec FOURTHS = zmm(28);

  /** Lanes of the second, third and fourth of four rows. */
  private static final Mask[] ROW_MASKS = {K4, K5, K6};

  private void constants() {
    Snippets.bytes(a, FOURTHS, 0x0C08_0400, 0, RAX);
    Snippets.constant(a, BITS, type == DataType.Q8_0 ? 0x8080_8080 : 0x0F0F_0F0F, RAX);
    Snippets.constant(a, HIGH_BITS, type == DataType.Q6_K ? 0x3030_3030 : 0x1010_1010, RAX);
    mask(K4, 0x00F0);
    mask(K5, 0x0F00);
    mask(K6, 0xF000);
  }

  private void mask(Mask to, int lanes) {
    a.mov(RAX, lanes);
    a.kmovd(to, RAX);
  }

  private static Vec weights(int part) {
    return zmm(10 + part);
  }

  private static Vec scale(int part) {
    return zmm(12 + part);
  }

  private static Vec offset(int part) {
    return zmm(14 + part);
  }

  private void nextBlock(Label block, int blocks) {
    a.add(R12, type.blockBytes());
    a.add(RBX, blocks * FewActivations.BLOCK);
    a.sub(RBP, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }

  /** Q4_0 and Q4_1: four lanes for each of four rows, low nibbles and high ones apart. */
  private void nibbles() {
    Label block = a.loop();
    boolean one = type == DataType.Q4_1;
    int quants = one ? 4 : 2;
    Vec low = weights(0);
    Vec high = weights(1);
    a.op(VBROADCASTI32X4, low, row(0, quants));
    for (int row = 1; row < ROWS; row++) {
      a.merge(ROW_MASKS[row - 1]).op(VBROADCASTI32X4, low, row(row, quants));
    }
    a.op(VPSRLW_IMM, high, low, 4);
    a.op(VPANDD, low, low, BITS);
    a.op(VPANDD, high, high, BITS);
    fourHalves(scale(0), 0);
    if (one) {
      fourHalves(offset(0), 2);
      // An eighth of the sum of activations is at hand where a fourth is needed.
      a.op(VADDPS, offset(0), offset(0), offset(0));
    }
    for (int token = 0; token < tokens; token++) {
      Vec product = zmm(20);
      Vec lows = zmm(21);
      for (int half = 0; half < 2; half++) {
        a.op(VBROADCASTI32X4, zmm(16 + half), token(token, FewActivations.HIGH + 16 * half));
        a.op(VBROADCASTI32X4, zmm(18 + half), token(token, FewActivations.LOW + 16 * half));
      }
      clear(product);
      clear(lows);
      for (int half = 0; half < 2; half++) {
        a.op(VPDPBUSD, product, weights(half), zmm(16 + half));
        a.op(VPDPBUSD, lows, weights(half), zmm(18 + half));
      }
      join(product, lows);
      if (one) {
        a.broadcast(VMULPS, product, product, token(token, FewActivations.SCALE));
        a.broadcast(
            VFMADD231PS, sum(token, 0), offset(0), token(token, FewActivations.EIGHTH_OF_SUM));
      } else {
        withoutExcess(product, token, 0, FewActivations.EXCESS_OF_NIBBLES);
      }
      a.op(VFMADD231PS, sum(token, 0), scale(0), product);
    }
    nextBlock(block, 1);
  }

  /** A float16 of each row for its four lanes. */
  private void fourHalves(Vec to, int offset) {
    a.op(VPBROADCASTW, to.as(32), row(0, offset));
    for (int row = 1; row < ROWS; row++) {
      a.merge(ROW_MASKS[row - 1]).op(VPBROADCASTW, to.as(32), row(row, offset));
    }
    a.op(VCVTPH2PS, to, to.as(32));
  }

  private void clear(Vec register) {
    a.op(VPXORD, register, register, register);
  }

  /** Products with the high bytes and with the low ones become one float32. */
  private void join(Vec highs, Vec lows) {
    a.op(VPSLLD_IMM, highs, highs, 8);
    a.op(VPADDD, highs, highs, lows);
    a.op(VCVTDQ2PS, highs, highs);
  }

  /** Scales a product and takes off what unsigned weights are too large by. */
  private void withoutExcess(Vec product, int token, int ahead, int excess) {
    a.op(VBROADCASTSS, zmm(19), token(token, ahead + FewActivations.SCALE));
    a.broadcast(VFMADD213PS, product, zmm(19), token(token, ahead + excess));
  }

  /** Q8_0: eight lanes for each of two rows. */
  private void bytes() {
    Label block = a.loop();
    for (int pair = 0; pair < 2; pair++) {
      twoRows(weights(pair), 2 * pair, 2);
      a.op(VPXORD, weights(pair), weights(pair), BITS);
      a.op(VPBROADCASTW, scale(pair).as(32), row(2 * pair, 0));
      a.merge(K1).op(VPBROADCASTW, scale(pair).as(32), row(2 * pair + 1, 0));
      a.op(VCVTPH2PS, scale(pair), scale(pair).as(32));
    }
    multiplyPairs(0);
    nextBlock(block, 1);
  }

  /** 32 bytes of a row and 32 of the next. */
  private void twoRows(Vec to, int row, int offset) {
    a.op(VMOVDQU32, to.as(32), row(row, offset));
    a.op(VINSERTI64X4, to, to, row(row + 1, offset), 1);
  }

  /**
   * Multiplies the weights of four rows with a block of every token's activations.
   *
   * @param ahead the block's distance from RBX
   */
  private void multiplyPairs(int ahead) {
    for (int token = 0; token < tokens; token++) {
      Vec high = zmm(16);
      Vec low = zmm(17);
      Vec excess = zmm(18);
      a.op(VBROADCASTI64X4, high, token(token, ahead + FewActivations.HIGH));
      a.op(VBROADCASTI64X4, low, token(token, ahead + FewActivations.LOW));
      if (type == DataType.Q6_K) {
        a.op(VBROADCASTSS, zmm(19), token(token, ahead + FewActivations.SCALE));
        a.op(VBROADCASTI64X4, excess, token(token, ahead + FewActivations.EXCESS_OF_SIX_BITS));
      }
      for (int pair = 0; pair < 2; pair++) {
        Vec product = zmm(20 + 2 * pair);
        Vec lows = zmm(21 + 2 * pair);
        clear(product);
        clear(lows);
        a.op(VPDPBUSD, product, weights(pair), high);
        a.op(VPDPBUSD, lows, weights(pair), low);
        join(product, lows);
        switch (type) {
          case Q8_0 -> withoutExcess(product, token, ahead, FewActivations.EXCESS_OF_BYTES);
          case Q6_K -> a.op(VFMADD213PS, product, zmm(19), excess);
          default ->
              a.broadcast(VMULPS, product, product, token(token, ahead + FewActivations.SCALE));
        }
        a.op(VFMADD231PS, sum(token, pair), scale(pair), product);
      }
    }
  }

  // ---- Blocks of 256, whose scales are unpacked to the stack.

  private void largeBlocks() {
    Label block = a.loop();
    boolean six = type == DataType.Q6_K;
    for (int row = 0; row < ROWS; row++) {
      if (six) {
        sixScales(row);
      } else {
        int r = row;
        Unpack.kScales(
            a,
            offset -> row(r, offset),
            at(RSP, 64 * row),
            at(RSP, 64 * row + 32),
            new Gpr[] {RAX, R14, R15},
            20);
      }
    }
    if (!six) {
      offsets();
    }
    // Runs whose bits share bytes follow each other.
    for (int run : six ? new int[] {0, 2, 1, 3, 4, 6, 5, 7} : new int[] {0, 1, 2, 3, 4, 5, 6, 7}) {
      for (int pair = 0; pair < 2; pair++) {
        if (six) {
          sixBits(pair, run);
        } else {
          fourOrFiveBits(pair, run);
        }
      }
      multiplyPairs(run * FewActivations.BLOCK);
    }
    a.add(R13, 8 * Float.BYTES);
    nextBlock(block, 8);
  }

  /** Adds the offsets of all eight runs at once: a lane for each, times the run's sum. */
  private void offsets() {
    for (int pair = 0; pair < 2; pair++) {
      a.op(VMOVUPS, offset(pair).as(32), at(RSP, 64 * 2 * pair + 32));
      a.op(VINSERTI64X4, offset(pair), offset(pair), at(RSP, 64 * (2 * pair + 1) + 32), 1);
    }
    for (int token = 0; token < tokens; token++) {
      Mem sums =
          switch (token) {
            case 0 -> at(R13);
            case 1 -> at(R13, RCX, 1);
            case 2 -> at(R13, RCX, 2);
            default -> at(R13, R11, 1);
          };
      a.op(VBROADCASTI64X4, zmm(16), sums);
      for (int pair = 0; pair < 2; pair++) {
        a.op(VFMADD231PS, sum(token, pair), offset(pair), zmm(16));
      }
    }
  }

  /** The bytes that several runs share stay in these. */
  private static Vec shared(int pair) {
    return zmm(26 + pair);
  }

  private static Vec sharedHigh(int pair) {
    return zmm(8 + pair);
  }

  private void fourOrFiveBits(int pair, int run) {
    Vec weights = weights(pair);
    boolean five = type == DataType.Q5_K;
    if (run % 2 == 0) {
      twoRows(shared(pair), 2 * pair, (five ? 48 : 16) + 32 * (run / 2));
      a.op(VPANDD, weights, shared(pair), BITS);
    } else {
      a.op(VPSRLW_IMM, weights, shared(pair), 4);
      a.op(VPANDD, weights, weights, BITS);
    }
    if (five) {
      if (run == 0) {
        twoRows(sharedHigh(pair), 2 * pair, 16);
      }
      Vec fifth = zmm(20);
      Unpack.shift(a, fifth, sharedHigh(pair), 4 - run);
      a.op(VPANDD, fifth, fifth, HIGH_BITS);
      a.op(VPORD, weights, weights, fifth);
    }
    a.op(VBROADCASTSS, scale(pair), at(RSP, 64 * 2 * pair + 4 * run));
    a.merge(K1).op(VBROADCASTSS, scale(pair), at(RSP, 64 * (2 * pair + 1) + 4 * run));
  }

  private void sixScales(int row) {
    a.op(VPBROADCASTW, ymm(20), row(row, 208));
    a.op(VCVTPH2PS, zmm(20), ymm(20));
    a.op(VPMOVSXBD, zmm(21), row(row, 192));
    a.op(VCVTDQ2PS, zmm(21), zmm(21));
    a.op(VMULPS, zmm(21), zmm(21), zmm(20));
    a.op(VMOVUPS_STORE, at(RSP, 64 * row), zmm(21));
  }

  private void sixBits(int pair, int run) {
    Vec weights = weights(pair);
    Vec high = zmm(20);
    int part = run / 4;
    int inPart = run % 4;
    if (inPart == 0) {
      twoRows(sharedHigh(pair), 2 * pair, 128 + 32 * part);
    }
    if (inPart < 2) {
      twoRows(shared(pair), 2 * pair, 64 * part + 32 * inPart);
      a.op(VPANDD, weights, shared(pair), BITS);
    } else {
      a.op(VPSRLW_IMM, weights, shared(pair), 4);
      a.op(VPANDD, weights, weights, BITS);
    }
    Unpack.shift(a, high, sharedHigh(pair), 4 - 2 * inPart);
    a.op(VPANDD, high, high, HIGH_BITS);
    a.op(VPORD, weights, weights, high);
    // Of a row's eight lanes four belong to either scale.
    Vec scale = scale(pair);
    int place = 64 * 2 * pair + 8 * run;
    a.op(VBROADCASTSS, scale, at(RSP, place));
    a.merge(K4).op(VBROADCASTSS, scale, at(RSP, place + 4));
    a.merge(K5).op(VBROADCASTSS, scale, at(RSP, place + 64));
    a.merge(K6).op(VBROADCASTSS, scale, at(RSP, place + 68));
  }

  // ---- The end of a group.

  private void store() {
    Vec sums = zmm(20);
    a.mov(RAX, R8);
    a.mov(R14, at(R9, 24));
    a.lea(R15, at(R14, R14, 2));
    for (int token = 0; token < tokens; token++) {
      if (isNibbles()) {
        a.op(VMOVUPS, sums, sum(token, 0));
      } else {
        fold(sums, sum(token, 0), sum(token, 1));
      }
      if (isFloat()) {
        fold(zmm(21), sum(token, 2), sum(token, 3));
        fold(sums, sums, zmm(21));
      }
      for (int order : new int[] {0x4E, 0xB1}) {
        a.op(VPERMILPS, zmm(22), sums, order);
        a.op(VADDPS, sums, sums, zmm(22));
      }
      a.op(VPERMPS, sums, FOURTHS, sums);
      a.op(VPEXTRD_STORE, at(RAX), sums.as(16), 0);
      a.op(VPEXTRD_STORE, at(RAX, R14, 1), sums.as(16), 1);
      a.op(VPEXTRD_STORE, at(RAX, R14, 2), sums.as(16), 2);
      a.op(VPEXTRD_STORE, at(RAX, R15, 1), sums.as(16), 3);
      a.add(RAX, at(R9, 16));
    }
  }

  /** Adds neighbouring quarters: those of x, then those of y. */
  private void fold(Vec to, Vec x, Vec y) {
    a.op(VSHUFF32X4, zmm(26), x, y, 0x88);
    a.op(VSHUFF32X4, zmm(27), x, y, 0xDD);
    a.op(VADDPS, to, zmm(26), zmm(27));
  }
}

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
import static io.steelyard.kernels.assembler.Mask.K2;
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
import static io.steelyard.kernels.assembler.Op.VPMOVSXBD;
import static io.steelyard.kernels.assembler.Op.VPMOVZXWD;
import static io.steelyard.kernels.assembler.Op.VPORD;
import static io.steelyard.kernels.assembler.Op.VPSLLD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRLVD;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPSUBD;
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
import io.steelyard.kernels.machine.Function;

/**
 * Products of rows as they lie in the file with one to four tokens: what decoding does. Bound by
 * memory, so there is time to be exact: activations have 16 bits to the weights' 8, as a high and a
 * low byte.
 *
 * <p>Four rows are multiplied at a time, two to a register: with quantised weights the lower half
 * of its lanes belongs to one row and the upper to the next. A token's sums take the same steps
 * however many tokens there are.
 *
 * <p>Arguments of its functions: the first row; bytes from one row to the next; activations; bytes
 * from one token's activations to the next; where the first token's products go; the address of
 * four longs: blocks of a row (for types without blocks, values), groups of four rows, bytes from
 * one token's products to the next, and how many products of a group are written, 1 to 4, as a
 * mask.
 */
final class FewTokens {
  /** The most tokens of one call. */
  static final int TOKENS = 4;

  /** Rows of a group. */
  static final int ROWS = 4;

  private static final int UPPER_HALF = 0xFF00;

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
  // the block's activations, RBP counts blocks, R13 counts groups.

  private void write() {
    Gpr[] kept = {RBX, RBP, R12, R13, R14, R15};
    for (Gpr register : kept) {
      a.push(register);
    }
    a.sub(RSP, 256);
    a.lea(R10, at(RSI, RSI, 2));
    a.lea(R11, at(RCX, RCX, 2));
    mask(K1, UPPER_HALF);
    a.mov32(RAX, at(R9, 24));
    a.kmovd(K2, RAX);
    constants();
    a.mov(R13, at(R9, 8));
    Label group = a.loop();
    a.mov(R12, RDI);
    a.mov(RBX, RDX);
    a.mov(RBP, at(R9));
    for (int i = 0; i < sums(); i++) {
      a.op(VPXORD, zmm(i), zmm(i), zmm(i));
    }
    switch (type) {
      case F32, F16, BF16 -> floats();
      case Q8_0, Q4_0, Q4_1 -> blocks();
      case Q4_K, Q5_K, Q6_K -> largeBlocks();
    }
    store();
    a.lea(RDI, at(RDI, RSI, 4));
    a.add(R8, ROWS * Float.BYTES);
    a.sub(R13, 1);
    a.jump(Condition.NOT_EQUAL, group);
    a.add(RSP, 256);
    for (int i = kept.length - 1; i >= 0; i--) {
      a.pop(kept[i]);
    }
  }

  private boolean isFloat() {
    return type.blockSize() == 1;
  }

  private int sums() {
    return tokens * (isFloat() ? 4 : 2);
  }

  private Vec sum(int token, int part) {
    return zmm(token * (isFloat() ? 4 : 2) + part);
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
    Lanes.first(a, K3, RAX, R14);
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

  // ---- Blocks of 32 with scales of their own.

  private static final Vec BITS = zmm(31);
  private static final Vec SHIFTS = zmm(30);
  private static final Vec HIGH_BITS = zmm(29);

  /** Indices 0, 4, 8 and 12. */
  private static final Vec FOURTHS = zmm(28);

  private void constants() {
    Lanes.bytes(a, FOURTHS, 0x0C08_0400, 0, RAX);
    switch (type) {
      case Q8_0 -> Lanes.constant(a, BITS, 0x8080_8080, RAX);
      case Q4_0, Q4_1 -> {
        Lanes.constant(a, BITS, 0x0F0F_0F0F, RAX);
        // The upper 16 bytes of either half take the high nibbles.
        mask(K3, 0xF0F0);
        Lanes.constant(a, SHIFTS, 4, RAX);
        a.zero(K3).op(VMOVDQU32, SHIFTS, SHIFTS);
      }
      case Q4_K -> Lanes.constant(a, BITS, 0x0F0F_0F0F, RAX);
      case Q5_K -> {
        Lanes.constant(a, BITS, 0x0F0F_0F0F, RAX);
        Lanes.constant(a, HIGH_BITS, 0x1010_1010, RAX);
      }
      case Q6_K -> {
        Lanes.constant(a, BITS, 0x0F0F_0F0F, RAX);
        Lanes.constant(a, HIGH_BITS, 0x3030_3030, RAX);
        mask(K4, 0x00F0);
        mask(K5, 0x0F00);
        mask(K6, 0xF000);
      }
      default -> {}
    }
  }

  private void mask(Mask to, int lanes) {
    a.mov(RAX, lanes);
    a.kmovd(to, RAX);
  }

  private static Vec weights(int pair) {
    return zmm(10 + pair);
  }

  private static Vec scale(int pair) {
    return zmm(12 + pair);
  }

  private static Vec offset(int pair) {
    return zmm(14 + pair);
  }

  private void blocks() {
    Label block = a.loop();
    for (int pair = 0; pair < 2; pair++) {
      int first = 2 * pair;
      switch (type) {
        case Q8_0 -> {
          twoRows(weights(pair), first, 2);
          a.op(VPXORD, weights(pair), weights(pair), BITS);
        }
        default -> {
          int at = type == DataType.Q4_1 ? 4 : 2;
          a.op(VBROADCASTI32X4, weights(pair), row(first, at));
          a.merge(K1).op(VBROADCASTI32X4, weights(pair), row(first + 1, at));
          a.op(VPSRLVD, weights(pair), weights(pair), SHIFTS);
          a.op(VPANDD, weights(pair), weights(pair), BITS);
        }
      }
      halves(scale(pair), first, 0);
      if (type == DataType.Q4_1) {
        halves(offset(pair), first, 2);
      }
    }
    multiply(0);
    a.add(R12, type.blockBytes());
    a.add(RBX, FewActivations.BLOCK);
    a.sub(RBP, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }

  /** 32 bytes of a row and 32 of the next. */
  private void twoRows(Vec to, int row, int offset) {
    a.op(VMOVDQU32, to.as(32), row(row, offset));
    a.op(VINSERTI64X4, to, to, row(row + 1, offset), 1);
  }

  /** A float16 of a row for the lower lanes, and of the next row for the upper. */
  private void halves(Vec to, int row, int offset) {
    a.op(VPBROADCASTW, to.as(32), row(row, offset));
    a.merge(K1).op(VPBROADCASTW, to.as(32), row(row + 1, offset));
    a.op(VCVTPH2PS, to, to.as(32));
  }

  /** Two rows' own values, in memory of the stack. */
  private void fromStack(Vec to, int row, int offset) {
    a.op(VBROADCASTSS, to, at(RSP, 64 * row + offset));
    a.merge(K1).op(VBROADCASTSS, to, at(RSP, 64 * (row + 1) + offset));
  }

  private boolean hasOffset() {
    return type == DataType.Q4_1 || type == DataType.Q4_K || type == DataType.Q5_K;
  }

  /** log2 of what unsigned weights are too large by. */
  private int excess() {
    return switch (type) {
      case Q8_0 -> 7;
      case Q4_0 -> 3;
      default -> 5;
    };
  }

  /**
   * Multiplies the weights of four rows with a block of every token's activations.
   *
   * @param ahead the block's distance from RBX
   */
  private void multiply(int ahead) {
    for (int token = 0; token < tokens; token++) {
      Vec high = zmm(16);
      Vec low = zmm(17);
      Vec start = zmm(18);
      Vec scale = zmm(19);
      a.op(VBROADCASTI64X4, high, token(token, ahead + FewActivations.HIGH));
      a.op(VBROADCASTI64X4, low, token(token, ahead + FewActivations.LOW));
      a.op(VBROADCASTSS, scale, token(token, ahead + FewActivations.SCALE));
      if (!hasOffset()) {
        a.op(VBROADCASTI64X4, zmm(20), token(token, ahead + FewActivations.SUMS));
        a.op(VPXORD, start, start, start);
        a.op(VPSLLD_IMM, zmm(20), zmm(20), excess());
        a.op(VPSUBD, start, start, zmm(20));
      }
      for (int pair = 0; pair < 2; pair++) {
        Vec highs = zmm(20 + 3 * pair);
        Vec lows = zmm(21 + 3 * pair);
        Vec product = zmm(22 + 3 * pair);
        a.op(VPXORD, highs, highs, highs);
        a.op(VPDPBUSD, highs, weights(pair), high);
        if (hasOffset()) {
          a.op(VPXORD, lows, lows, lows);
        } else {
          a.op(VMOVDQU32, lows, start);
        }
        a.op(VPDPBUSD, lows, weights(pair), low);
        a.op(VPSLLD_IMM, highs, highs, 8);
        a.op(VPADDD, highs, highs, lows);
        a.op(VCVTDQ2PS, highs, highs);
        a.op(VMULPS, product, scale(pair), scale);
        a.op(VFMADD231PS, sum(token, pair), highs, product);
        if (hasOffset()) {
          a.broadcast(
              VFMADD231PS,
              sum(token, pair),
              offset(pair),
              token(token, ahead + FewActivations.EIGHTH_OF_SUM));
        }
      }
    }
  }

  // ---- Blocks of 256, whose scales are unpacked to the stack: 64 bytes for each row.

  private void largeBlocks() {
    Label block = a.loop();
    for (int row = 0; row < ROWS; row++) {
      if (type == DataType.Q6_K) {
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
    for (int run = 0; run < 8; run++) {
      for (int pair = 0; pair < 2; pair++) {
        if (type == DataType.Q6_K) {
          sixBits(pair, run);
        } else {
          fourOrFiveBits(pair, run);
        }
      }
      multiply(run * FewActivations.BLOCK);
    }
    a.add(R12, type.blockBytes());
    a.add(RBX, 8 * FewActivations.BLOCK);
    a.sub(RBP, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }

  private void fourOrFiveBits(int pair, int run) {
    Vec weights = weights(pair);
    boolean five = type == DataType.Q5_K;
    twoRows(weights, 2 * pair, (five ? 48 : 16) + 32 * (run / 2));
    if (run % 2 == 1) {
      a.op(VPSRLW_IMM, weights, weights, 4);
    }
    a.op(VPANDD, weights, weights, BITS);
    if (five) {
      Vec fifth = zmm(20);
      twoRows(fifth, 2 * pair, 16);
      Unpack.shift(a, fifth, 4 - run);
      a.op(VPANDD, fifth, fifth, HIGH_BITS);
      a.op(VPORD, weights, weights, fifth);
    }
    fromStack(scale(pair), 2 * pair, 4 * run);
    fromStack(offset(pair), 2 * pair, 32 + 4 * run);
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
    twoRows(weights, 2 * pair, 64 * part + 32 * (inPart % 2));
    if (inPart >= 2) {
      a.op(VPSRLW_IMM, weights, weights, 4);
    }
    a.op(VPANDD, weights, weights, BITS);
    twoRows(high, 2 * pair, 128 + 32 * part);
    Unpack.shift(a, high, 4 - 2 * inPart);
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
    for (int token = 0; token < tokens; token++) {
      fold(sums, sum(token, 0), sum(token, 1));
      if (isFloat()) {
        fold(zmm(21), sum(token, 2), sum(token, 3));
        fold(sums, sums, zmm(21));
      }
      for (int order : new int[] {0x4E, 0xB1}) {
        a.op(VPERMILPS, zmm(22), sums, order);
        a.op(VADDPS, sums, sums, zmm(22));
      }
      a.op(VPERMPS, sums, FOURTHS, sums);
      a.merge(K2).op(VMOVUPS_STORE, at(RAX), sums.as(16));
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

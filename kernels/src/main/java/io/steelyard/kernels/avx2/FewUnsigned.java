package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R12;
import static io.steelyard.kernels.assembler.Gpr.R13;
import static io.steelyard.kernels.assembler.Gpr.R14;
import static io.steelyard.kernels.assembler.Gpr.R15;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTI128;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMOVDQU;
import static io.steelyard.kernels.assembler.Op.VMOVDQU_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTD;
import static io.steelyard.kernels.assembler.Op.VPERMILPS;
import static io.steelyard.kernels.assembler.Op.VPMADDUBSW;
import static io.steelyard.kernels.assembler.Op.VPMADDWD;
import static io.steelyard.kernels.assembler.Op.VPOR;
import static io.steelyard.kernels.assembler.Op.VPSHUFB;
import static io.steelyard.kernels.assembler.Op.VPSRLVD;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPUNPCKLDQ;
import static io.steelyard.kernels.assembler.Op.VPUNPCKLQDQ;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;

/**
 * What {@link FewTokens} says, of Q4_0, Q4_1, Q5_0, Q5_1, Q4_K and Q5_K, whose weights of 4 or 5
 * bits are multiplied as bytes with {@link ByteActivations}: a run of 32 in a register, unsigned.
 * Scales are made for four blocks of one run at a time, or for the eight runs of a large block, and
 * so are offsets, which multiply the runs' sums of activations. Runs go to two sums of a token by
 * turns, so that neither waits for itself.
 */
final class FewUnsigned extends RowLoop {
  private static final int RUN = 32;

  /** Blocks of one run that are taken at a time. */
  private static final int BLOCKS = 4;

  /** How far ahead rows are asked for, in bytes: about what comes while memory answers. */
  private static final int AHEAD = 1024;

  private static final int LINE = 64;

  // Places on the stack: scales and offsets of a large block.
  private static final int LARGE_SCALES = 0;
  private static final int LARGE_OFFSETS = 32;

  // Or what small blocks need: the first words of four, and constants. Of four times two words the
  // first ones, for all lanes, and the first or second ones alone; what weights are less; and four
  // lanes of no bits, then four of all, of which those from n on select the last n.
  private static final int WORDS = 0;
  private static final int TWICE = 16;
  private static final int ONCE = 32;
  private static final int LESS = 48;
  private static final int LAST = 64;

  // And what takes the fifth bits of a small block: by how much the word is moved down for each
  // lane, which bytes are copies, what they keep, and what becomes of it.
  private static final int DOWN = 96;
  private static final int COPIES = 128;
  private static final int OWN = 160;
  private static final int TABLE = 192;
  private static final int STACK = 224;

  private static final Vec NIBBLES = ymm(15);
  private static final Vec ONES = ymm(14);

  /**
   * Moves a block's upper nibbles, in the upper half of a register, to where the lower ones are.
   */
  private static final Vec SHIFTS = ymm(13);

  /** Of Q5_K instead: the fifth bit. */
  private static final Vec FIFTH = ymm(13);

  private static final Vec WEIGHTS = ymm(8);
  private static final Vec PRODUCT = ymm(9);
  private static final Vec SCALE = ymm(10);

  /** Of four blocks, in either half. */
  private static final Vec SCALES_OF_FOUR = ymm(11);

  private static final Vec OFFSETS = ymm(12);

  private FewUnsigned(Assembler a, DataType type, int tokens) {
    super(a, type, tokens);
  }

  static boolean takes(DataType type) {
    return switch (type) {
      case Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K -> true;
      default -> false;
    };
  }

  static Function of(DataType type, int tokens) {
    return Function.avx2(a -> new FewUnsigned(a, type, tokens).write(1, STACK));
  }

  // R13 has the runs' scales of activations, R14 their sums.

  @Override
  void constants() {
    Snippets.constant(a, NIBBLES, 0x0F0F_0F0F, RAX);
    Snippets.constant(a, ONES, 0x0001_0001, RAX);
    if (isLarge()) {
      Snippets.constant(a, FIFTH, 0x1010_1010, RAX);
      return;
    }
    Snippets.bytes(a, SHIFTS, 0x0404_0404_0000_0000L, 0, RAX);
    longs(TWICE, 0x0D0C_0908_0504_0100L, 0x0D0C_0908_0504_0100L);
    boolean second = hasMinimum();
    longs(ONCE, second ? 0x0F0E_0B0A_0706_0302L : 0x0D0C_0908_0504_0100L, -1);
    Snippets.constant(a, WEIGHTS, (float) -FifthBits.excess(type), RAX);
    a.op(VMOVDQU_STORE, at(RSP, LESS), WEIGHTS.as(16));
    longs(LAST, 0, 0);
    longs(LAST + 16, -1, -1);
    if (FifthBits.has(type)) {
      for (int half = 0; half < 2; half++) {
        long first = 0x4_0000_0000L + 0x10_0000_0010L * half;
        longs(DOWN + 16 * half, first, first + 0x8_0000_0008L);
        longs(COPIES + 16 * half, FifthBits.COPIES, FifthBits.MORE_COPIES);
        longs(OWN + 16 * half, FifthBits.OWN * 0x1_0000_0001L, FifthBits.OWN * 0x1_0000_0001L);
        longs(TABLE + 16 * half, FifthBits.TABLE, FifthBits.MORE_TABLE);
      }
    }
  }

  /** Whether a small block has a minimum, which is added to its values. */
  private boolean hasMinimum() {
    return type == DataType.Q4_1 || type == DataType.Q5_1;
  }

  private void longs(int place, long low, long high) {
    a.mov(RAX, low);
    a.mov(at(RSP, place), RAX);
    a.mov(RAX, high);
    a.mov(at(RSP, place + 8), RAX);
  }

  /** Whether a block has eight runs. */
  private boolean isLarge() {
    return type.blockSize() > RUN;
  }

  /** The sum of every second run. */
  private static Vec otherSum(int token) {
    return ymm(4 + token);
  }

  @Override
  void products() {
    a.mov(R14, RDX);
    a.add(R14, at(R9, SUMS));
    for (int token = 0; token < tokens; token++) {
      Snippets.clear(a, otherSum(token));
    }
    if (isLarge()) {
      Label block = a.loop();
      large();
      a.jump(Condition.NOT_EQUAL, block);
    } else {
      small();
    }
  }

  private void large() {
    ask(type.blockBytes());
    Unpack.kScales(
        a,
        offset -> at(R12, offset),
        at(RSP, LARGE_SCALES),
        at(RSP, LARGE_OFFSETS),
        new Gpr[] {RAX, R10, R15},
        WEIGHTS.number());
    a.op(VMOVUPS, OFFSETS, at(RSP, LARGE_OFFSETS));
    offsets();
    for (int run = 0; run < 8; run++) {
      largeWeights(run);
      a.op(VBROADCASTSS, SCALE, at(RSP, LARGE_SCALES + Float.BYTES * run));
      multiply(run);
    }
    advance(1, 8);
  }

  private void small() {
    Label rest = new Label();
    Label end = new Label();
    a.sub(RBP, BLOCKS);
    a.jump(Condition.LESS, rest);
    Label four = a.loop();
    ask(BLOCKS * type.blockBytes());
    firstWords();
    scales();
    offsets();
    runs(0, BLOCKS);
    advance(BLOCKS, BLOCKS);
    a.jump(Condition.NOT_LESS, four);
    a.place(rest);
    a.add(RBP, BLOCKS);
    a.jump(Condition.EQUAL, end);
    Label few = new Label();
    a.mov(RAX, at(R9, ROW_BLOCKS));
    a.cmp(RAX, BLOCKS);
    a.jump(Condition.LESS, few);
    lastFour();
    // Always: fewer than four were left.
    a.jump(Condition.LESS, end);
    a.place(few);
    lessThanFour();
    a.place(end);
  }

  private void ask(int bytes) {
    for (int at = 0; at < bytes; at += LINE) {
      a.prefetcht1(at(R12, AHEAD + at));
    }
  }

  private void advance(int blocks, int runs) {
    a.add(R12, blocks * type.blockBytes());
    a.add(RBX, runs * ByteActivations.BLOCK);
    a.add(R13, runs * ByteActivations.SCALES);
    a.add(R14, runs * Float.BYTES);
    a.sub(RBP, blocks);
  }

  /**
   * The last four blocks of the RAX of a row, of which only the last ones, as many as RBP, count.
   */
  private void lastFour() {
    a.sub(RAX, BLOCKS);
    a.mov(R12, RDI);
    a.add(R12, at(R9, ROW_BYTES));
    a.sub(R12, BLOCKS * type.blockBytes());
    a.mov(R14, RDX);
    a.add(R14, at(R9, SUMS));
    a.lea(R14, at(R14, RAX, 4));
    a.shl(RAX, 5);
    a.mov(RBX, RDX);
    a.add(RBX, RAX);
    a.mov(R13, RDX);
    a.add(R13, at(R9, SCALES));
    a.add(R13, RAX);
    firstWords();
    scales();
    a.op(VBROADCASTI128, PRODUCT, at(RSP, RBP, 4, LAST));
    a.op(VPAND, SCALES_OF_FOUR, SCALES_OF_FOUR, PRODUCT);
    a.op(VPAND, OFFSETS, OFFSETS, PRODUCT);
    offsets();
    Label lastTwo = new Label();
    a.cmp(RBP, 2);
    a.jump(Condition.NOT_GREATER, lastTwo);
    runs(0, 2);
    a.place(lastTwo);
    runs(2, BLOCKS);
    a.cmp(RBP, BLOCKS);
  }

  /** All blocks of a row that has fewer than four, whose number RBP is. */
  private void lessThanFour() {
    longs(WORDS, 0, 0);
    a.mov(R15, R12);
    a.mov(R10, 0);
    Label word = a.loop();
    a.mov32(RAX, at(R15));
    a.mov32(at(RSP, R10, 4, WORDS), RAX);
    a.add(R15, type.blockBytes());
    a.add(R10, 1);
    a.cmp(R10, RBP);
    a.jump(Condition.NOT_EQUAL, word);
    a.op(VMOVDQU, WEIGHTS.as(16), at(RSP, WORDS));
    scales();
    offsets();
    Label end = new Label();
    for (int run = 0; run < BLOCKS - 1; run++) {
      a.cmp(RBP, run);
      a.jump(Condition.EQUAL, end);
      runs(run, run + 1);
    }
    a.place(end);
  }

  /** The first 4 bytes of four blocks. */
  private void firstWords() {
    int bytes = type.blockBytes();
    Vec words = WEIGHTS.as(16);
    Vec others = PRODUCT.as(16);
    a.op(VMOVDQU, words, at(R12));
    a.op(VPUNPCKLDQ, words, words, at(R12, bytes));
    a.op(VMOVDQU, others, at(R12, 2 * bytes));
    a.op(VPUNPCKLDQ, others, others, at(R12, 3 * bytes));
    a.op(VPUNPCKLQDQ, words, words, others);
  }

  /** Four blocks' first float16 become the scales, and the second, or the first, the offsets. */
  private void scales() {
    Vec words = WEIGHTS.as(16);
    a.op(VPSHUFB, SCALES_OF_FOUR.as(16), words, at(RSP, TWICE));
    a.op(VPSHUFB, OFFSETS.as(16), words, at(RSP, ONCE));
    a.op(VCVTPH2PS, SCALES_OF_FOUR, SCALES_OF_FOUR.as(16));
    a.op(VCVTPH2PS, OFFSETS, OFFSETS.as(16));
    if (!hasMinimum()) {
      a.op(VMULPS, OFFSETS.as(16), OFFSETS.as(16), at(RSP, LESS));
    }
  }

  /** Adds runs' offsets times the sums of their activations. */
  private void offsets() {
    for (int token = 0; token < tokens; token++) {
      a.op(VFMADD231PS, sum(token), OFFSETS, ofToken(R14, token, 0));
    }
  }

  /** Some of four blocks. */
  private void runs(int from, int to) {
    for (int run = from; run < to; run++) {
      a.op(VBROADCASTI128, WEIGHTS, at(R12, (run + 1) * type.blockBytes() - 16));
      a.op(VPSRLVD, WEIGHTS, WEIGHTS, SHIFTS);
      a.op(VPAND, WEIGHTS, WEIGHTS, NIBBLES);
      if (FifthBits.has(type)) {
        a.op(VPBROADCASTD, PRODUCT, at(R12, run * type.blockBytes() + FifthBits.place(type)));
        a.op(VPSRLVD, PRODUCT, PRODUCT, at(RSP, DOWN));
        a.op(VPSHUFB, PRODUCT, PRODUCT, at(RSP, COPIES));
        a.op(VPAND, PRODUCT, PRODUCT, at(RSP, OWN));
        a.op(VMOVDQU, SCALE, at(RSP, TABLE));
        a.op(VPSHUFB, PRODUCT, SCALE, PRODUCT);
        a.op(VPOR, WEIGHTS, WEIGHTS, PRODUCT);
      }
      a.op(VPERMILPS, SCALE, SCALES_OF_FOUR, 0x55 * run);
      multiply(run);
    }
  }

  private void largeWeights(int run) {
    boolean five = type == DataType.Q5_K;
    a.op(VMOVDQU, WEIGHTS, at(R12, (five ? 48 : 16) + 32 * (run / 2)));
    if (run % 2 == 1) {
      a.op(VPSRLW_IMM, WEIGHTS, WEIGHTS, 4);
    }
    a.op(VPAND, WEIGHTS, WEIGHTS, NIBBLES);
    if (five) {
      a.op(VMOVDQU, PRODUCT, at(R12, 16));
      if (run != 4) {
        Unpack.shift(a, PRODUCT, PRODUCT, 4 - run);
      }
      a.op(VPAND, PRODUCT, PRODUCT, FIFTH);
      a.op(VPOR, WEIGHTS, WEIGHTS, PRODUCT);
    }
  }

  /** Multiplies a run's weights with all tokens' activations. */
  private void multiply(int run) {
    for (int token = 0; token < tokens; token++) {
      a.op(VPMADDUBSW, PRODUCT, WEIGHTS, token(token, ByteActivations.BLOCK * run));
      a.op(VPMADDWD, PRODUCT, PRODUCT, ONES);
      a.op(VCVTDQ2PS, PRODUCT, PRODUCT);
      a.op(VMULPS, PRODUCT, PRODUCT, ofToken(R13, token, ByteActivations.SCALES * run));
      a.op(VFMADD231PS, run % 2 == 0 ? sum(token) : otherSum(token), PRODUCT, SCALE);
    }
  }

  @Override
  void store(Label end) {
    a.mov(RAX, R8);
    for (int token = 0; token < tokens; token++) {
      a.op(VADDPS, sum(token), sum(token), otherSum(token));
      Snippets.reduce(a, VADDPS, sum(token), WEIGHTS);
      a.op(VMOVSS_STORE, at(RAX), sum(token).as(16));
      a.add(RAX, at(R9, 16));
    }
  }
}

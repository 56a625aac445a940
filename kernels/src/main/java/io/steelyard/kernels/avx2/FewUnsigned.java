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
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VFNMADD231PS;
import static io.steelyard.kernels.assembler.Op.VINSERTI128;
import static io.steelyard.kernels.assembler.Op.VMOVDQU;
import static io.steelyard.kernels.assembler.Op.VMOVDQU_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPADDW;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTD;
import static io.steelyard.kernels.assembler.Op.VPERMILPS;
import static io.steelyard.kernels.assembler.Op.VPMADDUBSW;
import static io.steelyard.kernels.assembler.Op.VPMADDWD;
import static io.steelyard.kernels.assembler.Op.VPOR;
import static io.steelyard.kernels.assembler.Op.VPSHUFB;
import static io.steelyard.kernels.assembler.Op.VPSLLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRLVD;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPUNPCKHQDQ;
import static io.steelyard.kernels.assembler.Op.VPUNPCKLDQ;
import static io.steelyard.kernels.assembler.Op.VPUNPCKLQDQ;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;

/**
 * What {@link FewTokens} says, of Q4_0, Q4_1, Q5_0, Q5_1, Q4_K and Q5_K, whose weights of 4 or 5
 * bits are multiplied as bytes with {@link ByteActivations}, unsigned. Eight runs of 32 are taken
 * at a time, as a large block has them: their scales are made together, and so are offsets, which
 * multiply the runs' sums of activations. Runs are multiplied by pairs, each with the fourth behind
 * it: either has a half of two registers, whose products can be added as words. Pairs go to two
 * sums of a token by turns, so that neither waits for itself.
 */
class FewUnsigned extends RowLoop {
  /** Runs taken at a time. */
  private static final int RUNS = 8;

  /** From one run of a pair to the other. */
  static final int APART = RUNS / 2;

  // Places on the stack: what scales of a large block are made with, and the block's fifth bits: in
  // the lower half of a register those of the first four runs, moved up by four, in the upper half
  // the others.
  private static final int K_CONSTANTS = 0;
  private static final int FIFTHS = 64;
  private static final int FIFTH = 128;

  // Or what small blocks need: the first words of eight, and constants. The order of four times two
  // words, the first ones before the second; what weights are less.
  private static final int WORDS = 0;
  private static final int ORDER = 32;
  private static final int LESS = 64;

  // And what takes the fifth bits of a small block: by how much the word is moved down for each
  // lane of the first and of the second register, which bytes are copies, what they keep, and what
  // becomes of it.
  private static final int DOWN = 96;
  private static final int COPIES = 160;
  private static final int OWN = 192;
  private static final int TABLE = 224;
  static final int STACK = 256;

  static final Vec NIBBLES = ymm(15);
  static final Vec ONES = ymm(14);
  static final Vec PRODUCT = ymm(10);

  /** Of a pair, in either half. */
  static final Vec SCALE = ymm(11);

  /** Of eight runs. */
  static final Vec SCALES_OF_EIGHT = ymm(12);

  private static final Vec OFFSETS = ymm(13);

  /** The second register's product, when the offsets have been added. */
  static final Vec OTHER = ymm(13);

  FewUnsigned(Assembler a, DataType type, int tokens) {
    super(a, type, tokens);
  }

  static boolean takes(DataType type) {
    return switch (type) {
      case Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K -> true;
      default -> false;
    };
  }

  static Function of(DataType type, int tokens) {
    return Function.avx2(a -> new FewUnsigned(a, type, tokens).write(STACK));
  }

  /** A pair's weights: the first 16 of either run, or the last. */
  static Vec weights(int half) {
    return ymm(8 + half);
  }

  /** The sum of every second pair. */
  private static Vec otherSum(int token) {
    return ymm(4 + token);
  }

  // R13 has the runs' scales of activations, R14 their sums.

  @Override
  void constants() {
    Snippets.constant(a, NIBBLES, 0x0F0F_0F0F, RAX);
    Snippets.constant(a, ONES, 0x0001_0001, RAX);
    if (isLarge()) {
      Unpack.kConstants(a, K_CONSTANTS);
      all(FIFTH, 0x1010_1010_1010_1010L);
      return;
    }
    Unpack.longs(a, ORDER, 0x0D0C_0908_0504_0100L, 0x0F0E_0B0A_0706_0302L);
    long less = Integer.toUnsignedLong(Float.floatToRawIntBits(-excess()));
    all(LESS, less << 32 | less);
    if (FifthBits.has(type)) {
      for (int half = 0; half < 2; half++) {
        long first = 0x4_0000_0000L + 0x10_0000_0010L * half;
        twice(DOWN + 32 * half, first, first + 0x8_0000_0008L);
      }
      twice(COPIES, FifthBits.COPIES, FifthBits.MORE_COPIES);
      all(OWN, FifthBits.OWN * 0x1_0000_0001L);
      twice(TABLE, FifthBits.TABLE, FifthBits.MORE_TABLE);
    }
  }

  private void all(int place, long value) {
    twice(place, value, value);
  }

  private void twice(int place, long low, long high) {
    Unpack.longs(a, place, low, high);
    Unpack.longs(a, place + 16, low, high);
  }

  /** What a small block's weights are too large by, if it has no minimum. */
  int excess() {
    return FifthBits.excess(type);
  }

  /** Whether a small block has a minimum, which is added to its values. */
  private boolean hasMinimum() {
    return type == DataType.Q4_1 || type == DataType.Q5_1;
  }

  /** Whether a block has eight runs. */
  private boolean isLarge() {
    return type.blockSize() > 32;
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
      advance(1);
      a.jump(Condition.NOT_EQUAL, block);
    } else {
      small();
    }
  }

  private void advance(int blocks) {
    a.add(R12, blocks * type.blockBytes());
    a.add(RBX, RUNS * ByteActivations.BLOCK);
    a.add(R13, RUNS * ByteActivations.SCALES);
    a.add(R14, RUNS * Float.BYTES);
    a.sub(RBP, blocks);
  }

  /** Adds or subtracts runs' offsets times the sums of their activations. */
  private void offsets(Op op) {
    for (int token = 0; token < tokens; token++) {
      a.op(op, sum(token), OFFSETS, ofToken(R14, token, 0));
    }
  }

  /** Multiplies a pair's weights with all tokens' activations. */
  final void multiply(int pair) {
    a.op(VPERMILPS, SCALE, SCALES_OF_EIGHT, 0x55 * pair);
    for (int token = 0; token < tokens; token++) {
      int place = 2 * ByteActivations.BLOCK * pair;
      multiply(token(token, place), token(token, place + 32));
      a.op(VCVTDQ2PS, PRODUCT, PRODUCT);
      a.op(VMULPS, PRODUCT, PRODUCT, ofToken(R13, token, 2 * ByteActivations.SCALES * pair));
      a.op(VFMADD231PS, pair % 2 == 0 ? sum(token) : otherSum(token), PRODUCT, SCALE);
    }
  }

  /** Makes {@code PRODUCT} of both weights and a token's activations: eight sums of 32 bits. */
  void multiply(Mem first, Mem last) {
    a.op(VPMADDUBSW, PRODUCT, weights(0), first);
    a.op(VPMADDUBSW, OTHER, weights(1), last);
    a.op(VPADDW, PRODUCT, PRODUCT, OTHER);
    a.op(VPMADDWD, PRODUCT, PRODUCT, ONES);
  }

  // ---- Large blocks.

  void large() {
    ask(type.blockBytes());
    Unpack.kScales(a, offset -> at(R12, offset), K_CONSTANTS, SCALES_OF_EIGHT, OFFSETS, PRODUCT);
    offsets(VFNMADD231PS);
    boolean five = type == DataType.Q5_K;
    for (int half = 0; five && half < 2; half++) {
      Mem bits = at(R12, 16 + 16 * half);
      a.op(VMOVDQU, PRODUCT.as(16), bits);
      a.op(VPSLLW_IMM, PRODUCT.as(16), PRODUCT.as(16), 4);
      a.op(VINSERTI128, PRODUCT, PRODUCT, bits, 1);
      a.op(VMOVDQU_STORE, at(RSP, FIFTHS + 32 * half), PRODUCT);
    }
    for (int pair = 0; pair < APART; pair++) {
      int place = (five ? 48 : 16) + 32 * (pair / 2);
      for (int half = 0; half < 2; half++) {
        load(half, at(R12, place + 16 * half), at(R12, place + 16 * APART + 16 * half));
        if (pair % 2 == 1) {
          a.op(VPSRLW_IMM, weights(half), weights(half), 4);
        }
        a.op(VPAND, weights(half), weights(half), NIBBLES);
        if (five) {
          a.op(VMOVDQU, PRODUCT, at(RSP, FIFTHS + 32 * half));
          a.op(VPSRLW_IMM, PRODUCT, PRODUCT, pair);
          a.op(VPAND, PRODUCT, PRODUCT, at(RSP, FIFTH));
          a.op(VPOR, weights(half), weights(half), PRODUCT);
        }
      }
      multiply(pair);
    }
  }

  /** 16 bytes of either run. */
  final void load(int half, Mem first, Mem second) {
    a.op(VMOVDQU, weights(half).as(16), first);
    a.op(VINSERTI128, weights(half), weights(half), second, 1);
  }

  // ---- Blocks of one run.

  private void small() {
    Label rest = new Label();
    Label end = new Label();
    a.sub(RBP, RUNS);
    a.jump(Condition.LESS, rest);
    Label eight = a.loop();
    ask(RUNS * type.blockBytes());
    firstWords(0);
    firstWords(1);
    scalesAndOffsets();
    for (int pair = 0; pair < APART; pair++) {
      small(pair, at(R12, APART * type.blockBytes()));
    }
    advance(RUNS);
    a.jump(Condition.NOT_LESS, eight);
    a.place(rest);
    a.add(RBP, RUNS);
    a.jump(Condition.EQUAL, end);
    lessThanEight(end);
    a.place(end);
  }

  /**
   * The last blocks of a row, whose number RBP is. In the place of one that isn't there its pair's
   * other is taken, with activations of 0.
   */
  private void lessThanEight(Label end) {
    twice(WORDS, 0, 0);
    a.mov(R15, R12);
    a.mov(R10, 0);
    Label word = a.loop();
    a.mov32(RAX, at(R15));
    a.mov32(at(RSP, R10, 4, WORDS), RAX);
    a.add(R15, type.blockBytes());
    a.add(R10, 1);
    a.cmp(R10, RBP);
    a.jump(Condition.NOT_EQUAL, word);
    for (int half = 0; half < 2; half++) {
      a.op(VMOVDQU, weights(half).as(16), at(RSP, WORDS + 16 * half));
    }
    scalesAndOffsets();
    for (int pair = 0; pair < APART; pair++) {
      if (pair > 0) {
        a.cmp(RBP, pair);
        a.jump(Condition.EQUAL, end);
      }
      Label alone = new Label();
      a.mov(R15, R12);
      a.cmp(RBP, APART + pair);
      a.jump(Condition.NOT_GREATER, alone);
      a.add(R15, APART * type.blockBytes());
      a.place(alone);
      small(pair, at(R15));
    }
  }

  /** The first 4 bytes of four blocks. */
  private void firstWords(int half) {
    int bytes = type.blockBytes();
    int first = APART * bytes * half;
    Vec words = weights(half).as(16);
    Vec others = PRODUCT.as(16);
    a.op(VMOVDQU, words, at(R12, first));
    a.op(VPUNPCKLDQ, words, words, at(R12, first + bytes));
    a.op(VMOVDQU, others, at(R12, first + 2 * bytes));
    a.op(VPUNPCKLDQ, others, others, at(R12, first + 3 * bytes));
    a.op(VPUNPCKLQDQ, words, words, others);
  }

  private void scalesAndOffsets() {
    scales();
    if (hasMinimum() || excess() > 0) {
      if (!hasMinimum()) {
        a.op(VMULPS, OFFSETS, SCALES_OF_EIGHT, at(RSP, LESS));
      }
      offsets(VFMADD231PS);
    }
  }

  /**
   * Of the first 4 bytes of eight blocks, four in each of both weights' registers, the first
   * float16 become the scales; where there is a minimum, the second become the offsets.
   */
  void scales() {
    Vec[] words = {weights(0).as(16), weights(1).as(16)};
    for (Vec each : words) {
      a.op(VPSHUFB, each, each, at(RSP, ORDER));
    }
    a.op(VPUNPCKLQDQ, SCALES_OF_EIGHT.as(16), words[0], words[1]);
    a.op(VCVTPH2PS, SCALES_OF_EIGHT, SCALES_OF_EIGHT.as(16));
    if (hasMinimum()) {
      a.op(VPUNPCKHQDQ, OFFSETS.as(16), words[0], words[1]);
      a.op(VCVTPH2PS, OFFSETS, OFFSETS.as(16));
    }
  }

  /**
   * Multiplies a pair of blocks.
   *
   * @param others where the second halves of the pairs begin
   */
  private void small(int pair, Mem others) {
    int block = pair * type.blockBytes();
    int nibbles = block + type.blockBytes() - 16;
    nibbles(at(R12, nibbles), others.plus(nibbles));
    if (FifthBits.has(type)) {
      int place = block + FifthBits.place(type);
      a.op(VPBROADCASTD, SCALE.as(16), at(R12, place));
      a.op(VPBROADCASTD, OTHER.as(16), others.plus(place));
      a.op(VINSERTI128, SCALE, SCALE, OTHER.as(16), 1);
      for (int half = 0; half < 2; half++) {
        a.op(VPSRLVD, PRODUCT, SCALE, at(RSP, DOWN + 32 * half));
        a.op(VPSHUFB, PRODUCT, PRODUCT, at(RSP, COPIES));
        a.op(VPAND, PRODUCT, PRODUCT, at(RSP, OWN));
        a.op(VMOVDQU, OTHER, at(RSP, TABLE));
        a.op(VPSHUFB, PRODUCT, OTHER, PRODUCT);
        a.op(VPOR, weights(half), weights(half), PRODUCT);
      }
    }
    multiply(pair);
  }

  /** Both weights become the nibbles of either run. */
  void nibbles(Mem first, Mem second) {
    load(0, first, second);
    a.op(VPSRLW_IMM, weights(1), weights(0), 4);
    for (int half = 0; half < 2; half++) {
      a.op(VPAND, weights(half), weights(half), NIBBLES);
    }
  }

  @Override
  void store() {
    a.mov(RAX, R8);
    for (int token = 0; token < tokens; token++) {
      a.op(VADDPS, sum(token), sum(token), otherSum(token));
      Snippets.reduce(a, VADDPS, sum(token), PRODUCT);
      a.op(VMOVSS_STORE, at(RAX), sum(token).as(16));
      a.add(RAX, at(R9, 16));
    }
  }
}

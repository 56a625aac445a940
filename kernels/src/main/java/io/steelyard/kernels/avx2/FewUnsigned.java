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
import static io.steelyard.kernels.assembler.Op.VBROADCASTI128;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMOVDQU;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTQ;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPMADDUBSW;
import static io.steelyard.kernels.assembler.Op.VPMADDWD;
import static io.steelyard.kernels.assembler.Op.VPOR;
import static io.steelyard.kernels.assembler.Op.VPSHUFB;
import static io.steelyard.kernels.assembler.Op.VPSRLVD;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPUNPCKHQDQ;
import static io.steelyard.kernels.assembler.Op.VPUNPCKLDQ;
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
 * What {@link FewTokens} says, of Q4_0, Q4_1, Q4_K and Q5_K, whose weights of 4 or 5 bits are
 * multiplied as bytes with {@link ByteActivations}: 32 in a register, unsigned. Scales are taken
 * for eight runs of 32 at a time, and so are offsets, which multiply the runs' sums of activations.
 * Runs go to two sums of a token by turns, so that neither waits for itself.
 */
final class FewUnsigned extends RowLoop {
  /** Runs whose scales are computed at a time. */
  private static final int RUNS = 8;

  /** Values of a run, and the bytes of its activations. */
  private static final int RUN = 32;

  /** How far ahead rows are asked for, in bytes: about what comes while memory answers. */
  private static final int AHEAD = 4096;

  private static final int LINE = 64;

  // Places on the stack: each token's two scales of eight runs; scales and offsets of a large
  // block;
  // in the same place the first words of the last blocks; constants.
  private static final int TOKEN_SCALES = RUNS * 2 * Float.BYTES;
  private static final int LARGE_SCALES = FewTokens.TOKENS * TOKEN_SCALES;
  private static final int LARGE_OFFSETS = LARGE_SCALES + 32;
  private static final int WORDS = LARGE_SCALES;

  /** Of four times two words, the first ones, then the second ones. */
  private static final int ORDER = LARGE_OFFSETS + 32;

  private static final int LESS = ORDER + 16;
  private static final int STACK = LESS + 32;

  private static final Vec NIBBLES = ymm(15);
  private static final Vec ONES = ymm(14);

  /**
   * Moves a block's upper nibbles, in the upper half of a register, to where the lower ones are.
   */
  private static final Vec SHIFTS = ymm(13);

  /** Of Q5_K instead: the fifth bit. */
  private static final Vec FIFTH = ymm(13);

  /** Each of the first four lanes twice, and each of the others. */
  private static final Vec FIRST_TWICE = ymm(12);

  private static final Vec OTHERS_TWICE = ymm(11);

  private static final Vec WEIGHTS = ymm(8);
  private static final Vec PRODUCT = ymm(9);
  private static final Vec SCALE = ymm(10);

  private FewUnsigned(Assembler a, DataType type, int tokens) {
    super(a, type, tokens);
  }

  static boolean takes(DataType type) {
    return switch (type) {
      case Q4_0, Q4_1, Q4_K, Q5_K -> true;
      default -> false;
    };
  }

  static Function of(DataType type, int tokens) {
    return Function.avx2(a -> new FewUnsigned(a, type, tokens).write(1, SCALES, STACK));
  }

  // R13 has the runs' scales of activations, R14 their sums.

  @Override
  void constants() {
    Snippets.constant(a, NIBBLES, 0x0F0F_0F0F, RAX);
    Snippets.constant(a, ONES, 0x0001_0001, RAX);
    Snippets.bytes(a, FIRST_TWICE, 0x0303_0202_0101_0000L, 0, RAX);
    Snippets.bytes(a, OTHERS_TWICE, 0x0707_0606_0505_0404L, 0, RAX);
    if (isLarge()) {
      Snippets.constant(a, FIFTH, 0x1010_1010, RAX);
      return;
    }
    Snippets.constant(a, WEIGHTS, -8f, RAX);
    a.op(VMOVUPS_STORE, at(RSP, LESS), WEIGHTS);
    Snippets.bytes(a, SHIFTS, 0x0404_0404_0000_0000L, 0, RAX);
    a.mov(RAX, 0x0D0C_0908_0504_0100L);
    a.mov(at(RSP, ORDER), RAX);
    a.mov(RAX, 0x0F0E_0B0A_0706_0302L);
    a.mov(at(RSP, ORDER + 8), RAX);
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
      eightRuns(1);
      a.jump(Condition.NOT_EQUAL, block);
      return;
    }
    Label rest = new Label();
    Label end = new Label();
    a.sub(RBP, RUNS);
    a.jump(Condition.LESS, rest);
    Label eight = a.loop();
    eightRuns(RUNS);
    a.jump(Condition.NOT_LESS, eight);
    a.place(rest);
    a.add(RBP, RUNS);
    a.jump(Condition.EQUAL, end);
    lastRuns();
    a.place(end);
  }

  /** Multiplies so many blocks, which have eight runs, and counts them. */
  private void eightRuns(int blocks) {
    for (int at = 0; at < blocks * type.blockBytes(); at += LINE) {
      a.prefetcht1(at(R12, AHEAD + at));
    }
    if (isLarge()) {
      Unpack.kScales(
          a,
          offset -> at(R12, offset),
          at(RSP, LARGE_SCALES),
          at(RSP, LARGE_OFFSETS),
          new Gpr[] {RAX, R10, R15},
          WEIGHTS.number());
      a.op(VMOVUPS, WEIGHTS, at(RSP, LARGE_SCALES));
      a.op(VMOVUPS, PRODUCT, at(RSP, LARGE_OFFSETS));
    } else {
      firstWords(WEIGHTS, 0);
      firstWords(PRODUCT, 4);
      halves();
    }
    scales();
    for (int run = 0; run < RUNS; run++) {
      weights(run);
      for (int token = 0; token < tokens; token++) {
        Vec sum = run % 2 == 0 ? sum(token) : otherSum(token);
        multiply(sum, token(token, RUN * run), at(RSP, TOKEN_SCALES * token + 8 * run));
      }
    }
    a.add(R12, blocks * type.blockBytes());
    a.add(RBX, RUNS * RUN);
    a.add(R13, TOKEN_SCALES);
    a.add(R14, RUNS * Float.BYTES);
    a.sub(RBP, blocks);
  }

  /** Up to seven runs, of blocks of one, by a loop over them. */
  private void lastRuns() {
    Snippets.clear(a, WEIGHTS);
    a.op(VMOVUPS_STORE, at(RSP, WORDS), WEIGHTS);
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
    a.op(VMOVDQU, PRODUCT.as(16), at(RSP, WORDS + 16));
    halves();
    scales();
    a.mov(R10, 0);
    Label run = a.loop();
    weights(0);
    for (int token = 0; token < tokens; token++) {
      multiply(sum(token), token(token, 0), at(RSP, R10, 8, TOKEN_SCALES * token));
    }
    a.add(R12, type.blockBytes());
    a.add(RBX, RUN);
    a.add(R10, 1);
    a.cmp(R10, RBP);
    a.jump(Condition.NOT_EQUAL, run);
  }

  /** The first 4 bytes of four blocks. */
  private void firstWords(Vec to, int block) {
    int bytes = type.blockBytes();
    Vec words = to.as(16);
    Vec others = SCALE.as(16);
    a.op(VMOVDQU, words, at(R12, block * bytes));
    a.op(VPUNPCKLDQ, words, words, at(R12, (block + 1) * bytes));
    a.op(VMOVDQU, others, at(R12, (block + 2) * bytes));
    a.op(VPUNPCKLDQ, others, others, at(R12, (block + 3) * bytes));
    a.op(VPUNPCKLQDQ, words, words, others);
  }

  /** Eight blocks' first float16 become the scales, and the second, or the first, the offsets. */
  private void halves() {
    Vec first = WEIGHTS.as(16);
    Vec second = PRODUCT.as(16);
    a.op(VPSHUFB, first, first, at(RSP, ORDER));
    a.op(VPSHUFB, second, second, at(RSP, ORDER));
    a.op(VPUNPCKLQDQ, SCALE.as(16), first, second);
    if (type == DataType.Q4_1) {
      a.op(VPUNPCKHQDQ, second, first, second);
      a.op(VCVTPH2PS, PRODUCT, second);
    }
    a.op(VCVTPH2PS, WEIGHTS, SCALE.as(16));
    if (type == DataType.Q4_0) {
      a.op(VMULPS, PRODUCT, WEIGHTS, at(RSP, LESS));
    }
  }

  /** Eight runs' scales times those of each token's activations; offsets are added to the sums. */
  private void scales() {
    for (int token = 0; token < tokens; token++) {
      a.op(VFMADD231PS, sum(token), PRODUCT, ofToken(R14, token, 0));
    }
    a.op(VPERMPS, PRODUCT, OTHERS_TWICE, WEIGHTS);
    a.op(VPERMPS, WEIGHTS, FIRST_TWICE, WEIGHTS);
    for (int token = 0; token < tokens; token++) {
      for (int half = 0; half < 2; half++) {
        a.op(VMULPS, SCALE, half == 0 ? WEIGHTS : PRODUCT, ofToken(R13, token, 32 * half));
        a.op(VMOVUPS_STORE, at(RSP, TOKEN_SCALES * token + 32 * half), SCALE);
      }
    }
  }

  /** A run's weights, a byte each. */
  private void weights(int run) {
    if (isLarge()) {
      a.op(VMOVDQU, WEIGHTS, at(R12, (type == DataType.Q5_K ? 48 : 16) + 32 * (run / 2)));
      if (run % 2 == 1) {
        a.op(VPSRLW_IMM, WEIGHTS, WEIGHTS, 4);
      }
    } else {
      a.op(VBROADCASTI128, WEIGHTS, at(R12, (run + 1) * type.blockBytes() - 16));
      a.op(VPSRLVD, WEIGHTS, WEIGHTS, SHIFTS);
    }
    a.op(VPAND, WEIGHTS, WEIGHTS, NIBBLES);
    if (type == DataType.Q5_K) {
      a.op(VMOVDQU, PRODUCT, at(R12, 16));
      if (run != 4) {
        Unpack.shift(a, PRODUCT, PRODUCT, 4 - run);
      }
      a.op(VPAND, PRODUCT, PRODUCT, FIFTH);
      a.op(VPOR, WEIGHTS, WEIGHTS, PRODUCT);
    }
  }

  private void multiply(Vec sum, Mem activations, Mem scale) {
    a.op(VPMADDUBSW, PRODUCT, WEIGHTS, activations);
    a.op(VPMADDWD, PRODUCT, PRODUCT, ONES);
    a.op(VCVTDQ2PS, PRODUCT, PRODUCT);
    a.op(VPBROADCASTQ, SCALE, scale);
    a.op(VFMADD231PS, sum, PRODUCT, SCALE);
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

package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R12;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VADDSS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD213PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231SS;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTW;
import static io.steelyard.kernels.assembler.Op.VPMADDWD;
import static io.steelyard.kernels.assembler.Op.VPMOVSXBD;
import static io.steelyard.kernels.assembler.Op.VPMOVSXBW;
import static io.steelyard.kernels.assembler.Op.VPMOVZXBW;
import static io.steelyard.kernels.assembler.Op.VPOR;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPSUBW;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;

/**
 * Products of rows as they lie in the file with one to four tokens: what decoding does. Weights
 * with blocks become whole numbers of 16 bits, as the activations are; those without are float32.
 * One row at a time; a token's sum takes the same steps however many tokens there are.
 */
final class FewTokens extends RowLoop {
  /** The most tokens of one call. */
  static final int TOKENS = 4;

  /** Values of a loop over a type without blocks. */
  private static final int STEP = 16;

  /** Bytes of the stack: scales of a large block. */
  private static final int STACK = 64;

  /** Bits of a word's lower nibble; of what a nibble lacks; what signed weights are less. */
  private static final Vec NIBBLES = ymm(15);

  private static final Vec HIGH_BITS = ymm(14);
  private static final Vec EXCESS = ymm(13);

  private FewTokens(Assembler a, DataType type, int tokens) {
    super(a, type, tokens);
  }

  static Function of(DataType type, int tokens) {
    return Function.avx2(a -> new FewTokens(a, type, tokens).write(1, STACK));
  }

  @Override
  void products() {
    switch (type) {
      case F32, F16, BF16, FP8_E4M3, FP8_E5M2 -> floats();
      case Q8_0 -> bytes();
      case Q6_K -> sixBits();
      default -> throw MachineCode.unsupported(type);
    }
  }

  @Override
  void store(Label end) {
    a.mov(RAX, R8);
    for (int token = 0; token < tokens; token++) {
      Snippets.reduce(a, VADDPS, sum(token), ymm(8));
      if (type.blockSize() == 1) {
        a.op(VADDSS, xmm(token), xmm(token), rest(token).as(16));
      }
      a.op(VMOVSS_STORE, at(RAX), xmm(token));
      a.add(RAX, at(R9, 16));
    }
  }

  // ---- Types without blocks.

  /** The sum of every second eight values, then that of what comes after the last whole step. */
  private static Vec rest(int token) {
    return ymm(4 + token);
  }

  private void floats() {
    Label rest = new Label();
    Label end = new Label();
    for (int token = 0; token < tokens; token++) {
      Snippets.clear(a, rest(token));
    }
    a.sub(RBP, STEP);
    a.jump(Condition.LESS, rest);
    Label step = a.loop();
    for (int half = 0; half < 2; half++) {
      Mem place = at(R12, half * STEP / 2 * type.blockBytes());
      Vec weights = ymm(10 + half);
      Elementwise.eightValues(a, type, weights, place);
      for (int token = 0; token < tokens; token++) {
        a.op(VFMADD231PS, half == 0 ? sum(token) : rest(token), weights, token(token, 32 * half));
      }
    }
    a.add(R12, STEP * type.blockBytes());
    a.add(RBX, STEP * Float.BYTES);
    a.sub(RBP, STEP);
    a.jump(Condition.NOT_LESS, step);
    a.place(rest);
    for (int token = 0; token < tokens; token++) {
      a.op(VADDPS, sum(token), sum(token), rest(token));
      Snippets.clear(a, rest(token));
    }
    a.add(RBP, STEP);
    a.jump(Condition.EQUAL, end);
    Label one = a.loop();
    Elementwise.value(a, type, ymm(10), at(R12));
    for (int token = 0; token < tokens; token++) {
      a.op(VFMADD231SS, rest(token).as(16), xmm(10), token(token, 0));
    }
    a.add(R12, type.blockBytes());
    a.add(RBX, Float.BYTES);
    a.sub(RBP, 1);
    a.jump(Condition.NOT_EQUAL, one);
    a.place(end);
  }

  // ---- Types with blocks: 32 weights in two registers, with a scale, or one for either.

  private static Vec weights(int half) {
    return ymm(4 + half);
  }

  private static Vec scale(int half) {
    return ymm(6 + half);
  }

  @Override
  void constants() {
    Snippets.constant(a, NIBBLES, 0x000F_000F, RAX);
    Snippets.constant(a, HIGH_BITS, 0x0030_0030, RAX);
    Snippets.constant(a, EXCESS, 0x0020_0020, RAX);
    if (EightBitFloats.has(type)) {
      EightBitFloats.constants(a);
    }
  }

  private void nextBlock(Label block, int blocks) {
    a.add(R12, type.blockBytes());
    a.add(RBX, blocks * FewActivations.BLOCK);
    a.sub(RBP, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }

  private void bytes() {
    Label block = a.loop();
    for (int half = 0; half < 2; half++) {
      a.op(VPMOVSXBW, weights(half), at(R12, 2 + 16 * half));
    }
    half(scale(0), 0);
    multiply(0);
    nextBlock(block, 1);
  }

  /** A float16 becomes float32 in all lanes. */
  private void half(Vec to, int offset) {
    a.op(VPBROADCASTW, to.as(16), at(R12, offset));
    a.op(VCVTPH2PS, to, to.as(16));
  }

  /**
   * Multiplies 32 weights with every token's activations.
   *
   * @param ahead the block's distance from RBX
   */
  private void multiply(int ahead) {
    boolean halves = type == DataType.Q6_K;
    for (int token = 0; token < tokens; token++) {
      Vec first = ymm(8);
      Vec second = ymm(9);
      Vec factor = ymm(10);
      a.op(VPMADDWD, first, weights(0), token(token, ahead));
      a.op(VPMADDWD, second, weights(1), token(token, ahead + 32));
      a.op(VBROADCASTSS, factor, token(token, ahead + FewActivations.SCALE));
      if (halves) {
        a.op(VCVTDQ2PS, first, first);
        a.op(VCVTDQ2PS, second, second);
        a.op(VMULPS, first, first, scale(0));
        a.op(VFMADD213PS, second, scale(1), first);
        a.op(VFMADD231PS, sum(token), second, factor);
      } else {
        a.op(VPADDD, first, first, second);
        a.op(VCVTDQ2PS, first, first);
        a.op(VMULPS, factor, factor, scale(0));
        a.op(VFMADD231PS, sum(token), first, factor);
      }
    }
  }

  // ---- Blocks of 256, whose scales are unpacked to the stack.

  private void sixBits() {
    Label block = a.loop();
    sixScales();
    for (int run = 0; run < 8; run++) {
      for (int half = 0; half < 2; half++) {
        sixBits(run, half);
      }
      multiply(run * FewActivations.BLOCK);
    }
    nextBlock(block, 8);
  }

  /** 16 nibbles as words: the lower ones of 16 bytes, or the upper. */
  private void nibbles(Vec to, int offset, boolean upper) {
    a.op(VPMOVZXBW, to, at(R12, offset));
    if (upper) {
      a.op(VPSRLW_IMM, to, to, 4);
    } else {
      a.op(VPAND, to, to, NIBBLES);
    }
  }

  /** Adds the bits that nibbles lack, from 16 bytes, moved up or down into their place. */
  private void highBits(Vec to, int offset, int up) {
    Vec bits = ymm(8);
    a.op(VPMOVZXBW, bits, at(R12, offset));
    if (up != 0) {
      Unpack.shift(a, bits, bits, up);
    }
    a.op(VPAND, bits, bits, HIGH_BITS);
    a.op(VPOR, to, to, bits);
  }

  private void sixScales() {
    half(ymm(8), 208);
    for (int eight = 0; eight < 2; eight++) {
      a.op(VPMOVSXBD, ymm(9), at(R12, 192 + 8 * eight));
      a.op(VCVTDQ2PS, ymm(9), ymm(9));
      a.op(VMULPS, ymm(9), ymm(9), ymm(8));
      a.op(VMOVUPS_STORE, at(RSP, 32 * eight), ymm(9));
    }
  }

  private void sixBits(int run, int half) {
    int part = run / 4;
    int inPart = run % 4;
    Vec weights = weights(half);
    nibbles(weights, 64 * part + 32 * (inPart % 2) + 16 * half, inPart >= 2);
    highBits(weights, 128 + 32 * part + 16 * half, 4 - 2 * inPart);
    a.op(VPSUBW, weights, weights, EXCESS);
    a.op(VBROADCASTSS, scale(half), at(RSP, 4 * (2 * run + half)));
  }
}

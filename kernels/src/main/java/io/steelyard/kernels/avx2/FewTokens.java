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
import static io.steelyard.kernels.assembler.Op.VPBROADCASTW;
import static io.steelyard.kernels.assembler.Op.VPMADDWD;
import static io.steelyard.kernels.assembler.Op.VPMOVSXBW;
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
 * Products of rows as they lie in the file with one to four tokens, of Q8_0 to eight: what decoding
 * does. Weights with blocks become whole numbers of 16 bits, as the activations are; those without
 * are float32. One row at a time; a token's sum takes the same steps however many tokens there are.
 */
final class FewTokens extends RowLoop {
  /** The most tokens of one call. */
  static final int TOKENS = 4;

  /** The most of one call of Q8_0. */
  static final int TOKENS_OF_BYTES = 8;

  /** Values of a loop over a type without blocks. */
  private static final int STEP = 16;

  private final boolean vnni;

  private FewTokens(Assembler a, DataType type, int tokens, boolean vnni) {
    super(a, type, tokens);
    this.vnni = vnni;
  }

  /**
   * See {@link MachineCode#few}.
   *
   * @param vnni whether it may use AVX-VNNI
   */
  static Function of(DataType type, int tokens, boolean vnni) {
    return Function.avx2(
        a -> {
          FewTokens few = new FewTokens(a, type, tokens, vnni);
          few.write(few.onStack() ? 32 * tokens : 0);
        });
  }

  @Override
  void products() {
    switch (type) {
      case F32, F16, BF16, FP8_E4M3, FP8_E5M2 -> floats();
      case Q8_0 -> bytes();
      default -> throw MachineCode.unsupported(type);
    }
  }

  @Override
  void store() {
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
    ask(STEP * type.blockBytes());
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

  @Override
  void constants() {
    if (onStack()) {
      moreTokens();
    }
    if (EightBitFloats.has(type)) {
      EightBitFloats.constants(a);
    }
  }

  // ---- Blocks of 32 bytes, in two registers, with a scale.

  private void bytes() {
    for (int token = 0; onStack() && token < tokens; token++) {
      a.op(VMOVUPS_STORE, total(token), sum(token));
    }
    Label group = a.loop();
    Label begin = new Label();
    Label end = new Label();
    a.mov(RAX, RBP);
    a.cmp(RAX, FewActivations.SHARING);
    a.jump(Condition.NOT_GREATER, begin);
    a.mov(RAX, FewActivations.SHARING);
    a.place(begin);
    a.sub(RBP, RAX);
    ask(FewActivations.SHARING * type.blockBytes());
    block(true);
    a.sub(RAX, 1);
    a.jump(Condition.EQUAL, end);
    Label another = a.loop();
    block(false);
    a.sub(RAX, 1);
    a.jump(Condition.NOT_EQUAL, another);
    a.place(end);
    Vec scale = ymm(8);
    for (int token = 0; token < tokens; token++) {
      // That of the first block is that of all.
      a.op(VBROADCASTSS, scale, ofToken(R13, token, 0));
      if (onStack()) {
        a.op(VFMADD213PS, sum(token), scale, total(token));
        a.op(VMOVUPS_STORE, total(token), sum(token));
      } else {
        a.op(VFMADD231PS, sum(token), ofGroup(token), scale);
      }
    }
    a.add(R13, FewActivations.SHARING * Float.BYTES);
    a.cmp(RBP, 0);
    a.jump(Condition.NOT_EQUAL, group);
  }

  /** Whether a group's sums take the place of all groups', which are on the stack meanwhile. */
  private boolean onStack() {
    return tokens > TOKENS;
  }

  private static Mem total(int token) {
    return at(RSP, 32 * token);
  }

  /** A token's sum of the blocks whose activations share a scale, without that. */
  private Vec ofGroup(int token) {
    return onStack() ? sum(token) : ymm(TOKENS + token);
  }

  /**
   * A block's products with its own scale alone.
   *
   * @param first whether they begin the group's sums, or add to them
   */
  private void block(boolean first) {
    Vec scale = ymm(10);
    Vec product = ymm(11);
    Vec other = ymm(12);
    a.op(VPMOVSXBW, ymm(8), at(R12, 2));
    a.op(VPMOVSXBW, ymm(9), at(R12, 2 + 16));
    a.op(VPBROADCASTW, scale.as(16), at(R12));
    a.op(VCVTPH2PS, scale, scale.as(16));
    for (int token = 0; token < tokens; token++) {
      a.op(VPMADDWD, product, ymm(8), token(token, 0));
      Snippets.addWords(a, vnni, product, ymm(9), token(token, 32), other);
      a.op(VCVTDQ2PS, product, product);
      if (first) {
        a.op(VMULPS, ofGroup(token), product, scale);
      } else {
        a.op(VFMADD231PS, ofGroup(token), product, scale);
      }
    }
    a.add(R12, type.blockBytes());
    a.add(RBX, FewActivations.BLOCK);
  }
}

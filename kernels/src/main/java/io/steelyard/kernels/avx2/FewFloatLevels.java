package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R12;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;

/**
 * What {@link FewTokens} says, of {@link FloatLevels}: activations are float32, and a block's sum
 * of products is multiplied with its scale.
 */
final class FewFloatLevels extends RowLoop {
  private static final Vec SCALE = ymm(8);

  private FewFloatLevels(Assembler a, DataType type, int tokens) {
    super(a, type, tokens);
  }

  static Function of(DataType type, int tokens) {
    return Function.avx2(a -> new FewFloatLevels(a, type, tokens).write(0));
  }

  @Override
  void constants() {
    FloatLevels.constants(a, type);
  }

  private static Vec blockSum(int token) {
    return ymm(4 + token);
  }

  @Override
  void products() {
    Label block = a.loop();
    ask(type.blockBytes());
    a.op(VBROADCASTSS, SCALE, at(R12));
    for (int first = 0; first < type.blockSize(); first += FloatLevels.STEP) {
      int from = first;
      FloatLevels.step(a, at(R12, Float.BYTES + first / 2), eight -> multiply(from + eight));
    }
    for (int token = 0; token < tokens; token++) {
      a.op(VFMADD231PS, sum(token), blockSum(token), SCALE);
    }
    a.add(R12, type.blockBytes());
    a.add(RBX, type.blockSize() * Float.BYTES);
    a.sub(RBP, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }

  private void multiply(int first) {
    for (int token = 0; token < tokens; token++) {
      a.op(
          first == 0 ? VMULPS : VFMADD231PS,
          blockSum(token),
          FloatLevels.VALUES,
          token(token, first * Float.BYTES));
    }
  }

  @Override
  void store() {
    a.mov(RAX, R8);
    for (int token = 0; token < tokens; token++) {
      Snippets.reduce(a, VADDPS, sum(token), SCALE);
      a.op(VMOVSS_STORE, at(RAX), sum(token).as(16));
      a.add(RAX, at(R9, 16));
    }
  }
}

package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.machine.FewFormat;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode.Single;

/**
 * Activations as {@link FewTokens} takes them: blocks of 32 values as whole numbers of 16 bits, of
 * which eight share a scale. (A value of a hundredth of the largest of 256 still has more than the
 * 8 bits that the weights have.)
 *
 * <p>Arguments of its function: the activations; where the first block goes; blocks, at least 1;
 * where the first block's scale goes; the last is not used.
 */
final class FewActivations {
  /** Bytes of a block. */
  static final int BLOCK = 64;

  static final FewFormat FORMAT =
      new FewFormat("int16", Single.FEW_ACTIVATIONS, BLOCK, Float.BYTES, 0);

  /** Blocks that share a scale. */
  static final int SHARING = 8;

  private static final float LARGEST = 32_767;

  private FewActivations() {}

  static Function function() {
    return Function.avx2(FewActivations::write);
  }

  private static void write(Assembler a) {
    Rounding.constants(a, LARGEST);
    Label group = a.loop();
    Label rest = new Label();
    a.mov(R9, RDX);
    a.cmp(R9, SHARING);
    a.jump(Condition.NOT_GREATER, rest);
    a.mov(R9, SHARING);
    a.place(rest);
    a.sub(RDX, R9);
    Rounding.shareScale(a);
    Label block = a.loop();
    Rounding.roundByShared(a, at(RCX));
    Rounding.storeWords(a);
    a.add(RDI, 128);
    a.add(RSI, BLOCK);
    a.add(RCX, Float.BYTES);
    a.sub(R9, 1);
    a.jump(Condition.NOT_EQUAL, block);
    a.cmp(RDX, 0);
    a.jump(Condition.NOT_EQUAL, group);
  }
}

package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VMOVDQU_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VPUNPCKLDQ;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.FewFormat;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode.Single;

/**
 * Activations as {@link FewUnsigned} takes them: 32 values as signed bytes, where groups of four by
 * turns have one scale and another, so that a large value spoils 15 others, not 31.
 *
 * <p>Arguments of its function: the activations; where the first block goes; blocks, at least 1;
 * where the first block's scales go, those of the next behind them; where the sum of the first
 * block's activations goes, that of the next behind it.
 */
final class ByteActivations {
  static final int BLOCK = 32;

  /** Both scales by turns, for all lanes. */
  static final int SCALES = 8 * Float.BYTES;

  static final FewFormat FORMAT =
      new FewFormat("int8", Single.FEW_BYTES, BLOCK, SCALES, Float.BYTES);

  private ByteActivations() {}

  static Function function() {
    return Function.avx2(ByteActivations::write);
  }

  private static void write(Assembler a) {
    Rounding.constants(a, Byte.MAX_VALUE);
    Label block = a.loop();
    a.op(VMOVSS_STORE, at(R8), Rounding.roundByTurns(a));
    Vec scales = Rounding.FIRST_SCALE;
    a.op(VPUNPCKLDQ, scales, scales, Rounding.SECOND_SCALE);
    a.op(VMOVUPS_STORE, at(RCX), scales);
    Rounding.packBytes(a);
    a.op(VMOVDQU_STORE, at(RSI), ymm(0));
    a.add(RDI, 128);
    a.add(RSI, BLOCK);
    a.add(RCX, SCALES);
    a.add(R8, Float.BYTES);
    a.sub(RDX, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }
}

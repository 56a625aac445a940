package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VEXTRACTF128;
import static io.steelyard.kernels.assembler.Op.VMOVDQU_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VPUNPCKLDQ;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.FewFormat;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode.Single;

/**
 * Activations as {@link FewUnsigned} and {@link FewSixBits} take them: 32 values as signed bytes,
 * where groups of four by turns have one scale and another, so that a large value spoils 15 others,
 * not 31. Of every eight blocks the first and the fifth are a pair, and so on: the first 16 values
 * of the one, then of the other, then the last 16 of either; scales likewise.
 *
 * <p>Arguments of its function: the activations; where the first block goes; blocks, at least 1;
 * where the first block's scales go; where the sum of the first block's activations goes, that of
 * the next behind it.
 */
final class ByteActivations {
  static final int BLOCK = 32;

  /** Both scales by turns, for half of the lanes. */
  static final int SCALES = 4 * Float.BYTES;

  static final FewFormat FORMAT =
      new FewFormat("int8", Single.FEW_BYTES, BLOCK, SCALES, Float.BYTES);

  private ByteActivations() {}

  static Function function() {
    return Function.avx2(ByteActivations::write);
  }

  private static void write(Assembler a) {
    Rounding.constants(a, Byte.MAX_VALUE);
    a.mov(R9, 0);
    Label block = a.loop();
    a.op(VMOVSS_STORE, at(R8), Rounding.roundByTurns(a));
    Vec scales = Rounding.FIRST_SCALE;
    a.op(VPUNPCKLDQ, scales, scales, Rounding.SECOND_SCALE);
    Rounding.packBytes(a);
    // Of block R9: 256 bytes for every eight and 64 for each pair, of scales half of it, and 16 for
    // the second of a pair.
    a.mov(RAX, R9);
    a.shr(RAX, 3);
    a.shl(RAX, 2);
    a.mov(R10, R9);
    a.and(R10, 3);
    a.add(RAX, R10);
    a.shl(RAX, 5);
    a.mov(R10, R9);
    a.and(R10, 4);
    a.shl(R10, 2);
    a.add(R10, RAX);
    a.op(VMOVUPS_STORE, at(RCX, R10, 1, 0), scales.as(16));
    a.add(R10, RAX);
    a.op(VMOVDQU_STORE, at(RSI, R10, 1, 0), xmm(0));
    a.op(VEXTRACTF128, xmm(0), ymm(0), 1);
    a.op(VMOVDQU_STORE, at(RSI, R10, 1, 2 * 16), xmm(0));
    a.add(RDI, 128);
    a.add(R8, Float.BYTES);
    a.add(R9, 1);
    a.cmp(R9, RDX);
    a.jump(Condition.NOT_EQUAL, block);
  }
}

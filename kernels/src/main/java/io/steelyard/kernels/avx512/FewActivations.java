package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPS2DQ;
import static io.steelyard.kernels.assembler.Op.VDIVSS;
import static io.steelyard.kernels.assembler.Op.VMAXPS;
import static io.steelyard.kernels.assembler.Op.VMAXSS;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VMULSS;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPMOVDB;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.Snippets;
import io.steelyard.kernels.machine.FewFormat;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode.Single;

/**
 * Activations as {@link FewTokens} takes them: 32 values as signed bytes with a common scale.
 *
 * <p>Arguments of its function: the activations; where the first block goes; blocks, at least 1;
 * where the first block's scale goes, that of the next behind it; where the sums of the first
 * block's two halves go, those of the next behind them. Sums are of what was rounded, so that an
 * offset and the rounding's error don't add up.
 */
final class FewActivations {
  /** Bytes of a block. */
  static final int BLOCK = 32;

  static final FewFormat FORMAT =
      new FewFormat("int8", Single.FEW_ACTIVATIONS, BLOCK, Float.BYTES, 2 * Float.BYTES);

  private static final float LARGEST = 127;

  private static final Vec ABSOLUTE = zmm(10);
  private static final Vec MOST = zmm(12);
  private static final Vec LEAST = zmm(13);
  private static final Vec INVERSE = zmm(14);

  private FewActivations() {}

  static Function function() {
    return Function.of(FewActivations::write);
  }

  private static void write(Assembler a) {
    Snippets.constant(a, ABSOLUTE, 0x7FFF_FFFF, RAX);
    Snippets.constant(a, MOST, LARGEST, RAX);
    Snippets.constant(a, LEAST, 1e-30f, RAX);
    Snippets.constant(a, INVERSE, 1 / LARGEST, RAX);
    Label block = a.loop();
    a.op(VMOVUPS, zmm(0), at(RDI));
    a.op(VMOVUPS, zmm(1), at(RDI, 64));
    a.op(VPANDD, zmm(2), zmm(0), ABSOLUTE);
    a.op(VPANDD, zmm(3), zmm(1), ABSOLUTE);
    a.op(VMAXPS, zmm(2), zmm(2), zmm(3));
    Snippets.reduce(a, VMAXPS, zmm(2), zmm(3));
    a.op(VMULSS, xmm(4), xmm(2), INVERSE.as(16));
    a.op(VMOVSS_STORE, at(RCX), xmm(4));
    a.op(VMAXSS, xmm(2), xmm(2), LEAST.as(16));
    a.op(VDIVSS, xmm(2), MOST.as(16), xmm(2));
    Snippets.spread(a, zmm(2), zmm(2));
    for (int half = 0; half < 2; half++) {
      Vec value = zmm(half);
      a.op(VMULPS, value, value, zmm(2));
      a.op(VCVTPS2DQ, value, value);
      a.op(VPMOVDB, at(RSI, 16 * half), value);
    }
    for (int half = 0; half < 2; half++) {
      Vec sum = xmm(half);
      Snippets.reduce(a, VPADDD, zmm(half), zmm(6));
      a.op(VCVTDQ2PS, sum, sum);
      a.op(VMULSS, sum, sum, xmm(4));
      a.op(VMOVSS_STORE, at(R8, 4 * half), sum);
    }
    a.add(RDI, 128);
    a.add(RSI, BLOCK);
    a.add(RCX, Float.BYTES);
    a.add(R8, 2 * Float.BYTES);
    a.sub(RDX, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }
}

package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPS2DQ;
import static io.steelyard.kernels.assembler.Op.VDIVSS;
import static io.steelyard.kernels.assembler.Op.VINSERTI128;
import static io.steelyard.kernels.assembler.Op.VMAXPS;
import static io.steelyard.kernels.assembler.Op.VMAXSS;
import static io.steelyard.kernels.assembler.Op.VMOVDQU_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VMULSS;
import static io.steelyard.kernels.assembler.Op.VPACKSSDW;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;

/**
 * Activations as {@link FewTokens} takes them: 32 values as whole numbers of 16 bits with a common
 * scale.
 *
 * <p>Arguments of its function: the activations; where the first block goes; blocks, at least 1;
 * not used; where the sum of the first block's activations goes, that of the next behind it.
 *
 * <p>All sums are of what was rounded, so that an offset and the rounding's error don't add up.
 */
final class FewActivations {
  /** Places in a block, after its 32 values. */
  static final int SCALE = 64;

  /** An eighth of the sum of all 32, since eight lanes will add it. */
  static final int EIGHTH_OF_SUM = 68;

  /** Bytes of a block. */
  static final int BLOCK = 72;

  private static final float LARGEST = 32_767;

  private static final Vec ABSOLUTE = ymm(10);
  private static final Vec MOST = ymm(11);
  private static final Vec LEAST = ymm(12);
  private static final Vec INVERSE = ymm(13);
  private static final Vec EIGHTH = ymm(14);

  private FewActivations() {}

  static Function function() {
    return Function.avx2(FewActivations::write);
  }

  private static void write(Assembler a) {
    Snippets.constant(a, ABSOLUTE, 0x7FFF_FFFF, RAX);
    Snippets.constant(a, MOST, LARGEST, RAX);
    Snippets.constant(a, LEAST, 1e-30f, RAX);
    Snippets.constant(a, INVERSE, 1 / LARGEST, RAX);
    Snippets.constant(a, EIGHTH, 0.125f, RAX);
    Label block = a.loop();
    Vec largest = ymm(4);
    Vec other = ymm(5);
    for (int i = 0; i < 4; i++) {
      // Packing works within 16 bytes, so these are the first and third four of eight, or the
      // others.
      int place = 64 * (i / 2) + 16 * (i % 2);
      a.op(VMOVUPS, xmm(i), at(RDI, place));
      a.op(VINSERTI128, ymm(i), ymm(i), at(RDI, place + 32), 1);
      a.op(VPAND, i == 0 ? largest : other, ymm(i), ABSOLUTE);
      if (i > 0) {
        a.op(VMAXPS, largest, largest, other);
      }
    }
    Snippets.reduce(a, VMAXPS, largest, other);
    Vec scale = xmm(6);
    a.op(VMULSS, scale, largest.as(16), INVERSE.as(16));
    a.op(VMOVSS_STORE, at(RSI, SCALE), scale);
    a.op(VMAXSS, largest.as(16), largest.as(16), LEAST.as(16));
    a.op(VDIVSS, largest.as(16), MOST.as(16), largest.as(16));
    Snippets.spread(a, largest, largest);
    for (int i = 0; i < 4; i++) {
      a.op(VMULPS, ymm(i), ymm(i), largest);
      a.op(VCVTPS2DQ, ymm(i), ymm(i));
    }
    a.op(VPADDD, other, ymm(0), ymm(1));
    a.op(VPADDD, ymm(7), ymm(2), ymm(3));
    a.op(VPADDD, other, other, ymm(7));
    a.op(VCVTDQ2PS, other, other);
    Snippets.reduce(a, VADDPS, other, ymm(7));
    a.op(VMULSS, other.as(16), other.as(16), scale);
    a.op(VMOVSS_STORE, at(R8), other.as(16));
    a.op(VMULSS, other.as(16), other.as(16), EIGHTH.as(16));
    a.op(VMOVSS_STORE, at(RSI, EIGHTH_OF_SUM), other.as(16));
    for (int pair = 0; pair < 2; pair++) {
      Vec packed = ymm(2 * pair);
      a.op(VPACKSSDW, packed, packed, ymm(2 * pair + 1));
      a.op(VMOVDQU_STORE, at(RSI, 32 * pair), packed);
    }
    a.add(R8, Float.BYTES);
    a.add(RDI, 128);
    a.add(RSI, BLOCK);
    a.sub(RDX, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }
}

package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPS2PH;
import static io.steelyard.kernels.assembler.Op.VCVTTPS2DQ;
import static io.steelyard.kernels.assembler.Op.VDIVSS;
import static io.steelyard.kernels.assembler.Op.VMAXSS;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPMOVSXBD;
import static io.steelyard.kernels.assembler.Op.VPOR;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;

/** Keys and values of a cache as bytes of which 32 share a float32 scale that float16 can hold. */
final class CacheBytes {
  private static final Vec ONE = ymm(9);
  private static final Vec SIGN = ymm(8);
  private static final Vec HALF = ymm(7);

  /** The largest float32 below a half: added to it, a half becomes 1 and what is less does not. */
  private static final float JUST_UNDER_HALF = 0x1.fffffep-2f;

  private CacheBytes() {}

  /** What {@link #round} needs. */
  static void constants(Assembler a) {
    Rounding.constants(a, 127f);
    Snippets.constant(a, ONE, 1f, RAX);
    Snippets.constant(a, SIGN, 0x8000_0000, RAX);
    Snippets.constant(a, HALF, JUST_UNDER_HALF, RAX);
  }

  /**
   * Rounds 32 values at RDI, which moves on, to the bytes of register 0, as Q8_0 does. Registers 1
   * to 5 are overwritten.
   *
   * @param scale where their scale goes
   */
  static void round(Assembler a, Mem scale) {
    Vec largest = Rounding.load(a, Rounding.Order.BYTES);
    Vec other = ymm(5);
    a.op(VMAXSS, largest.as(16), largest.as(16), Rounding.LEAST.as(16));
    a.op(VDIVSS, largest.as(16), largest.as(16), Rounding.MOST.as(16));
    a.op(VDIVSS, other.as(16), ONE.as(16), largest.as(16));
    Snippets.spread(a, other, other);
    a.op(VCVTPS2PH, largest.as(16), largest.as(16), 0);
    a.op(VCVTPH2PS, largest.as(16), largest.as(16));
    a.op(VMOVSS_STORE, scale, largest.as(16));
    for (int i = 0; i < 4; i++) {
      a.op(VMULPS, ymm(i), ymm(i), other);
      // Halves go away from zero.
      a.op(VPAND, largest, ymm(i), SIGN);
      a.op(VPOR, largest, largest, HALF);
      a.op(VADDPS, ymm(i), ymm(i), largest);
      a.op(VCVTTPS2DQ, ymm(i), ymm(i));
    }
    Rounding.packBytes(a);
    a.add(RDI, 128);
  }

  /**
   * A group of keys as float32. Arguments: bytes, 32 positions for each value of a head; where
   * float32 values go; scales of each 32 values, 32 positions each; how many times 32 values.
   */
  static Function widenKeys() {
    return Function.avx2(
        a -> {
          Label block = a.loop();
          for (int i = 0; i < 4; i++) {
            a.op(VMOVUPS, ymm(4 + i), at(RDX, 32 * i));
          }
          a.mov(R8, 32);
          Label value = a.loop();
          widen(a, true);
          a.add(RDI, 32);
          a.add(RSI, 128);
          a.sub(R8, 1);
          a.jump(Condition.NOT_EQUAL, value);
          a.add(RDX, 128);
          a.sub(RCX, 1);
          a.jump(Condition.NOT_EQUAL, block);
        });
  }

  /**
   * Values as float32. Arguments: 32 bytes and a scale for each position; where float32 values go;
   * positions.
   */
  static Function widenValues() {
    return Function.avx2(
        a -> {
          Label position = a.loop();
          a.op(VBROADCASTSS, ymm(4), at(RDI, 32));
          widen(a, false);
          a.add(RDI, 36);
          a.add(RSI, 128);
          a.sub(RDX, 1);
          a.jump(Condition.NOT_EQUAL, position);
        });
  }

  /** 32 bytes times the scale of register 4, or of 4 to 7. */
  private static void widen(Assembler a, boolean ownScales) {
    for (int i = 0; i < 4; i++) {
      a.op(VPMOVSXBD, ymm(i), at(RDI, 8 * i));
      a.op(VCVTDQ2PS, ymm(i), ymm(i));
      a.op(VMULPS, ymm(i), ymm(i), ymm(ownScales ? 4 + i : 4));
      a.op(VMOVUPS_STORE, at(RSI, 32 * i), ymm(i));
    }
  }
}

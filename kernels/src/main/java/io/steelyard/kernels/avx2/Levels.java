package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VMAXPS;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTD;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTW;
import static io.steelyard.kernels.assembler.Op.VPOR;
import static io.steelyard.kernels.assembler.Op.VPSHUFB;
import static io.steelyard.kernels.assembler.Op.VPSLLD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRLD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRLVD;
import static io.steelyard.kernels.assembler.Op.VPSUBD;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.codec.FourBitLevels;

/**
 * IQ4_NL, IQ4_XS and MXFP4, whose nibbles name one of 16 levels, and their scales. Registers 12 to
 * 14 hold constants.
 */
public final class Levels {
  /** What an exponent of 0 stands for, which as a float32's exponent would be of zero. */
  public static final float LEAST_POWER = 0x1p-127f;

  /** What the scale of MXFP4 is multiplied with, since its levels are doubled. */
  public static final float HALF = 0.5f;

  /** What the scales of IQ4_XS are too large by. */
  public static final int EXCESS = 32;

  static final Vec TABLE = ymm(14);

  /** What scales are made with. */
  static final Vec FIRST_OF_SCALES = ymm(12);

  static final Vec SECOND_OF_SCALES = ymm(13);

  // Of MXFP4.
  private static final Vec LEAST = SECOND_OF_SCALES;
  private static final Vec HALVES = FIRST_OF_SCALES;

  // Of IQ4_XS.
  private static final Vec TOO_MUCH = SECOND_OF_SCALES;
  private static final Vec SHIFTS = FIRST_OF_SCALES;

  private Levels() {}

  /** Whether a type's nibbles name levels. */
  public static boolean has(DataType type) {
    return switch (type) {
      case IQ4_NL, IQ4_XS, MXFP4 -> true;
      default -> false;
    };
  }

  /** The levels of a type that has some. */
  public static byte[] of(DataType type) {
    return type == DataType.MXFP4 ? FourBitLevels.doubledFloats() : FourBitLevels.nonlinear();
  }

  /** The least level, which is negative. */
  public static int least(DataType type) {
    int least = 0;
    for (byte level : of(type)) {
      least = Math.min(least, level);
    }
    return least;
  }

  /** Eight levels, the first or the others, less the same number, as bytes of a long. */
  public static long eight(DataType type, boolean first, int less) {
    byte[] levels = of(type);
    long bytes = 0;
    for (int i = 7; i >= 0; i--) {
      bytes = bytes << 8 | ((levels[first ? i : 8 + i] - less) & 0xFF);
    }
    return bytes;
  }

  /**
   * Writes the constants of such a type.
   *
   * @param less taken off every level
   */
  static void constants(Assembler a, DataType type, int less) {
    Snippets.halves(a, TABLE, eight(type, true, less), eight(type, false, less), RAX);
    if (type == DataType.MXFP4) {
      Snippets.constant(a, LEAST, LEAST_POWER, RAX);
      Snippets.constant(a, HALVES, HALF, RAX);
    }
    if (type == DataType.IQ4_XS) {
      Snippets.constant(a, TOO_MUCH, EXCESS, RAX);
      Snippets.bytes(a, SHIFTS, 0x1C18_1410_0C08_0400L, 0, RAX);
    }
  }

  /** Numbers below 16 become their levels. */
  static void look(Assembler a, Vec numbers) {
    a.op(VPSHUFB, numbers, TABLE.as(numbers.bytes()), numbers);
  }

  /** The scale of MXFP4: half of a power of two, of which a byte is the exponent. */
  static void powerOfTwo(Assembler a, Vec to, Mem from) {
    a.op(VPBROADCASTD, to, from);
    a.op(VPSLLD_IMM, to, to, 24);
    a.op(VPSRLD_IMM, to, to, 1);
    a.op(VMAXPS, to, to, LEAST.as(to.bytes()));
    a.op(VMULPS, to, to, HALVES.as(to.bytes()));
  }

  /**
   * The eight scales of a block of IQ4_XS: 6 bits each, times the block's own. The low four are in
   * the block's second word of 4 bytes, the upper two in the upper half of the first.
   *
   * @param block the first word
   */
  static void scales(Assembler a, Vec to, Vec other, Vec third, Mem block) {
    a.op(VPBROADCASTD, to, block.plus(4));
    a.op(VPSRLVD, to, to, SHIFTS);
    keep(a, to, 28, 28);
    a.op(VPBROADCASTD, other, block);
    a.op(VPSRLD_IMM, other, other, 16);
    a.op(VPSRLD_IMM, third, SHIFTS, 1);
    a.op(VPSRLVD, other, other, third);
    keep(a, other, 30, 26);
    a.op(VPOR, to, to, other);
    a.op(VPSUBD, to, to, TOO_MUCH);
    a.op(VCVTDQ2PS, to, to);
    a.op(VPBROADCASTW, other.as(16), block);
    a.op(VCVTPH2PS, other, other.as(16));
    a.op(VMULPS, to, to, other);
  }

  /** Moves bits up, so that those above are lost, then down. */
  private static void keep(Assembler a, Vec of, int up, int down) {
    a.op(VPSLLD_IMM, of, of, up);
    a.op(VPSRLD_IMM, of, of, down);
  }
}

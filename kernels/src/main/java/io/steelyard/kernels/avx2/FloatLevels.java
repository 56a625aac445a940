package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VEXTRACTF128;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPMOVZXBW;
import static io.steelyard.kernels.assembler.Op.VPOR;
import static io.steelyard.kernels.assembler.Op.VPSHUFB;
import static io.steelyard.kernels.assembler.Op.VPSLLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Op.VPUNPCKHBW;
import static io.steelyard.kernels.assembler.Op.VPUNPCKLBW;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.codec.NormalFloat;
import io.steelyard.kernels.codec.SmallFloat;
import java.util.function.IntConsumer;

/**
 * NF4 and FP4: blocks of a float32 scale and 64 nibbles, of a byte the high one first, which name
 * one of 16 levels. Here levels are float16, which rounds those of NF4. Registers 9 to 15 are used.
 */
public final class FloatLevels {
  /** Values of a step. */
  static final int STEP = 32;

  /** What a step's values come in, eight at a time. */
  static final Vec VALUES = ymm(12);

  private static final Vec NIBBLES = ymm(9);
  private static final Vec LOWER = ymm(10);
  private static final Vec UPPER = ymm(11);
  private static final Vec HIGH_NIBBLES = ymm(13);
  private static final Vec LOWER_TABLE = ymm(14);
  private static final Vec UPPER_TABLE = ymm(15);

  private FloatLevels() {}

  /** Whether a type is one of them. */
  public static boolean has(DataType type) {
    return switch (type) {
      case NF4, FP4 -> true;
      default -> false;
    };
  }

  /** The level that each nibble names. */
  public static float[] of(DataType type) {
    if (type == DataType.NF4) {
      return NormalFloat.levels();
    }
    float[] levels = new float[16];
    for (int i = 0; i < levels.length; i++) {
      levels[i] = SmallFloat.E2M1.value(i);
    }
    return levels;
  }

  /**
   * By how much a word of eight nibbles is moved down for one of 16 lanes, of which eight have it.
   */
  public static int shift(int lane) {
    return lane % 8 / 2 * 8 + (lane % 2 == 0 ? 4 : 0);
  }

  static void constants(Assembler a, DataType type) {
    Snippets.constant(a, HIGH_NIBBLES, 0x0F00_0F00, RAX);
    table(a, LOWER_TABLE, type, 0);
    table(a, UPPER_TABLE, type, 8);
  }

  /** A byte of each level. */
  private static void table(Assembler a, Vec to, DataType type, int shift) {
    float[] levels = of(type);
    long[] halves = new long[2];
    for (int i = levels.length - 1; i >= 0; i--) {
      halves[i / 8] = halves[i / 8] << 8 | ((Float.floatToFloat16(levels[i]) >> shift) & 0xFF);
    }
    Snippets.halves(a, to, halves[0], halves[1], RAX);
  }

  /**
   * Decodes a step, without the scale.
   *
   * @param from 16 bytes
   * @param taken is told the number of the first of each eight values, which are in {@link #VALUES}
   */
  static void step(Assembler a, Mem from, IntConsumer taken) {
    // Each byte's high nibble, then its low one, as bytes.
    a.op(VPMOVZXBW, LOWER, from);
    a.op(VPSRLW_IMM, NIBBLES, LOWER, 4);
    a.op(VPSLLW_IMM, LOWER, LOWER, 8);
    a.op(VPAND, LOWER, LOWER, HIGH_NIBBLES);
    a.op(VPOR, NIBBLES, NIBBLES, LOWER);
    a.op(VPSHUFB, LOWER, LOWER_TABLE, NIBBLES);
    a.op(VPSHUFB, UPPER, UPPER_TABLE, NIBBLES);
    a.op(VPUNPCKLBW, NIBBLES, LOWER, UPPER);
    a.op(VPUNPCKHBW, LOWER, LOWER, UPPER);
    Vec[] words = {NIBBLES, LOWER};
    for (int eight = 0; eight < 4; eight++) {
      Vec half = words[eight % 2].as(16);
      if (eight >= 2) {
        a.op(VEXTRACTF128, half, words[eight % 2], 1);
      }
      a.op(VCVTPH2PS, VALUES, half);
      taken.accept(8 * eight);
    }
  }
}

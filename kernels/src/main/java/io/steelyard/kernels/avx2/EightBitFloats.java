package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTB;
import static io.steelyard.kernels.assembler.Op.VPMOVSXBW;
import static io.steelyard.kernels.assembler.Op.VPMOVZXBW;
import static io.steelyard.kernels.assembler.Op.VPSLLW_IMM;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;

/**
 * FP8_E4M3 and FP8_E5M2 as float16, every value exactly. E5M2 is the upper byte of one. E4M3 has
 * its bits moved to where float16 has sign, exponent and mantissa, which makes it too small by the
 * difference of the exponents' biases; products are multiplied with that in the end. Register 15
 * holds a constant. NaN of E4M3 becomes a number.
 */
public final class EightBitFloats {
  /** Sign, four bits of exponent and three of mantissa, of two float16. */
  public static final int KEPT_BITS = 0xBF80_BF80;

  /** How far a signed byte of E4M3 is moved up. */
  private static final int UP = 7;

  private static final Vec KEPT = ymm(15);

  private EightBitFloats() {}

  /** Whether a type is one of them. */
  public static boolean has(DataType type) {
    return switch (type) {
      case FP8_E4M3, FP8_E5M2 -> true;
      default -> false;
    };
  }

  /** What products must be multiplied with. */
  public static float factor(DataType type) {
    return type == DataType.FP8_E4M3 ? 256 : 1;
  }

  /** Fills register 15. */
  static void constants(Assembler a) {
    Snippets.constant(a, KEPT, KEPT_BITS, RAX);
  }

  /** Loads 8 values as float32. */
  static void load(Assembler a, DataType type, Vec to, Mem from) {
    a.op(type == DataType.FP8_E4M3 ? VPMOVSXBW : VPMOVZXBW, to.as(16), from);
    widen(a, type, to);
  }

  /**
   * Loads 16 values as float32.
   *
   * @param a has a mask chosen where only some are to be loaded
   * @param kept {@link #KEPT_BITS} in every lane; not used for E5M2
   */
  public static void loadWide(Assembler a, DataType type, Vec to, Mem from, Vec kept) {
    Vec words = to.as(32);
    if (type == DataType.FP8_E4M3) {
      a.op(VPMOVSXBW, words, from);
      a.op(VPSLLW_IMM, words, words, UP);
      a.op(VPANDD, words, words, kept.as(32));
    } else {
      a.op(VPMOVZXBW, words, from);
      a.op(VPSLLW_IMM, words, words, 8);
    }
    a.op(VCVTPH2PS, to, words);
  }

  /** Loads one value for all lanes, and nothing beyond it. */
  static void one(Assembler a, DataType type, Vec to, Mem from) {
    a.op(VPBROADCASTB, to.as(16), from);
    if (type == DataType.FP8_E4M3) {
      a.op(VPMOVSXBW, to.as(16), to.as(16));
    }
    widen(a, type, to);
  }

  private static void widen(Assembler a, DataType type, Vec words) {
    if (type == DataType.FP8_E4M3) {
      a.op(VPSLLW_IMM, words.as(16), words.as(16), UP);
      a.op(VPAND, words.as(16), words.as(16), KEPT.as(16));
    } else {
      a.op(VPSLLW_IMM, words.as(16), words.as(16), 8);
    }
    a.op(VCVTPH2PS, words, words.as(16));
  }
}

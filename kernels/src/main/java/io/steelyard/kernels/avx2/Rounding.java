package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VADDSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPS2DQ;
import static io.steelyard.kernels.assembler.Op.VCVTTPS2DQ;
import static io.steelyard.kernels.assembler.Op.VDIVPS;
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
import static io.steelyard.kernels.assembler.Op.VPACKSSWB;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPERMILPS;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.assembler.Vec;
import java.util.function.IntFunction;

/**
 * Rounds 32 float32 values at RDI to whole numbers with a common scale, in registers 0 to 3.
 * Registers 4 to 7 are overwritten, 10 to 13 hold constants.
 */
final class Rounding {
  /** What the largest of 32 values is at least taken for, so that it can be divided by. */
  static final Vec LEAST = ymm(12);

  /** What the largest value becomes. */
  static final Vec MOST = ymm(11);

  private static final Vec ABSOLUTE = ymm(10);
  private static final Vec INVERSE = ymm(13);

  /** Of {@link #roundByTurns}. */
  static final Vec FIRST_SCALE = ymm(4);

  static final Vec SECOND_SCALE = ymm(7);

  private static final Vec[] TURNS = {FIRST_SCALE, SECOND_SCALE};

  /**
   * How many times the third scale of {@link #roundByMultiples} the larger of two is, less one:
   * four sums of at most 31,496 fit into 32 bits when they are multiplied by that.
   */
  private static final int MULTIPLES = 16_383;

  /** Of {@link #roundByHalves}, in the lanes of the first half and of the second. */
  static final Vec SCALES = ymm(6);

  static final Vec SUMS = ymm(5);

  private static final Vec LARGEST = ymm(4);
  private static final Vec OTHER = ymm(5);
  private static final Vec SCALE = xmm(6);

  /**
   * Which values a register holds: packing works within 16 bytes, and shall leave them in order.
   */
  enum Order {
    /** To be packed to 16 bits: of 16 values the first and third four, or the second and fourth. */
    WORDS,
    /** To be packed to bytes: four values, and the four that lie 16 behind. */
    BYTES;

    private int first(int register) {
      return this == BYTES ? 4 * register : 16 * (register / 2) + 4 * (register % 2);
    }

    private int distance() {
      return this == BYTES ? 16 : 8;
    }
  }

  private Rounding() {}

  /** Fills the registers of constants. */
  static void constants(Assembler a, float most) {
    Snippets.constant(a, ABSOLUTE, 0x7FFF_FFFF, RAX);
    Snippets.constant(a, MOST, most, RAX);
    Snippets.constant(a, LEAST, 1e-30f, RAX);
    Snippets.constant(a, INVERSE, 1 / most, RAX);
  }

  private static void loadPart(Assembler a, Order order, int i) {
    int place = Float.BYTES * order.first(i);
    a.op(VMOVUPS, xmm(i), at(RDI, place));
    a.op(VINSERTI128, ymm(i), ymm(i), at(RDI, place + Float.BYTES * order.distance()), 1);
  }

  /** Loads the values; the lowest lane of the result becomes the largest magnitude. */
  static Vec load(Assembler a, Order order) {
    loadAll(a, order);
    Snippets.reduce(a, VMAXPS, LARGEST, OTHER);
    return LARGEST;
  }

  /** Loads the values; the largest magnitude is the largest lane of {@link #LARGEST}. */
  private static void loadAll(Assembler a, Order order) {
    for (int i = 0; i < 4; i++) {
      loadPart(a, order, i);
      a.op(VPAND, i == 0 ? LARGEST : OTHER, ymm(i), ABSOLUTE);
      if (i > 0) {
        a.op(VMAXPS, LARGEST, LARGEST, OTHER);
      }
    }
  }

  /**
   * Loads and rounds to words. The lowest lane of the result becomes the sum of what was rounded
   * times its scale, so that an offset and the rounding's error don't add up.
   *
   * @param scale where the scale goes
   */
  static Vec roundToWords(Assembler a, Mem scale) {
    load(a, Order.WORDS);
    scale(a);
    words(a, scale);
    a.op(VPADDD, OTHER, ymm(0), ymm(1));
    a.op(VPADDD, ymm(7), ymm(2), ymm(3));
    a.op(VPADDD, OTHER, OTHER, ymm(7));
    a.op(VCVTDQ2PS, OTHER, OTHER);
    Snippets.reduce(a, VADDPS, OTHER, ymm(7));
    a.op(VMULSS, OTHER.as(16), OTHER.as(16), SCALE);
    return OTHER.as(16);
  }

  /**
   * Finds the scale that some blocks of 32 values at RDI share, as many as R9 says; {@link
   * #roundByShared} rounds them by it, one after the other. R10 and R11 are overwritten.
   */
  static void shareScale(Assembler a) {
    a.mov(R10, RDI);
    a.mov(R11, R9);
    Snippets.clear(a, LARGEST);
    Label block = a.loop();
    for (int i = 0; i < 4; i++) {
      a.op(VPAND, OTHER, ABSOLUTE, at(R10, 32 * i));
      a.op(VMAXPS, LARGEST, LARGEST, OTHER);
    }
    a.add(R10, 128);
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, block);
    Snippets.reduce(a, VMAXPS, LARGEST, OTHER);
    scale(a);
  }

  /**
   * Loads and rounds to words by the scale that was found.
   *
   * @param scale where it goes
   */
  static void roundByShared(Assembler a, Mem scale) {
    for (int i = 0; i < 4; i++) {
      loadPart(a, Order.WORDS, i);
    }
    words(a, scale);
  }

  /** Of the largest magnitude in the lowest lane: the scale, and what values are multiplied by. */
  private static void scale(Assembler a) {
    Vec largest = LARGEST.as(16);
    a.op(VMULSS, SCALE, largest, INVERSE.as(16));
    a.op(VMAXSS, largest, largest, LEAST.as(16));
    a.op(VDIVSS, largest, MOST.as(16), largest);
    Snippets.spread(a, LARGEST, LARGEST);
  }

  private static void words(Assembler a, Mem scale) {
    a.op(VMOVSS_STORE, scale, SCALE);
    for (int i = 0; i < 4; i++) {
      a.op(VMULPS, ymm(i), ymm(i), LARGEST);
      a.op(VCVTPS2DQ, ymm(i), ymm(i));
    }
  }

  /**
   * Loads and rounds to bytes: groups of four values by turns have one scale and another, which all
   * lanes of {@link #FIRST_SCALE} and {@link #SECOND_SCALE} become. Register 8 is overwritten, and
   * its lowest lane becomes the sum of what was rounded times its scale.
   */
  static Vec roundByTurns(Assembler a) {
    Vec sum = ymm(8);
    loadTurns(a);
    for (int turn = 0; turn < 2; turn++) {
      Vec most = TURNS[turn];
      a.op(VMULSS, SCALE, most.as(16), INVERSE.as(16));
      a.op(VMAXSS, most.as(16), most.as(16), LEAST.as(16));
      a.op(VDIVSS, most.as(16), MOST.as(16), most.as(16));
      Snippets.spread(a, most, most);
      roundTurn(a, turn, most);
      Snippets.spread(a, most, SCALE);
      a.op(VMULPS, turn == 0 ? sum : OTHER, OTHER, most);
    }
    a.op(VADDPS, sum, sum, OTHER);
    Snippets.reduce(a, VADDPS, sum, OTHER);
    return sum.as(16);
  }

  /** Loads the values; the lowest lane of each of {@link #TURNS} becomes its largest magnitude. */
  private static void loadTurns(Assembler a) {
    for (int i = 0; i < 4; i++) {
      loadPart(a, Order.BYTES, i);
      a.op(VPAND, i < 2 ? TURNS[i] : OTHER, ymm(i), ABSOLUTE);
      if (i >= 2) {
        a.op(VMAXPS, TURNS[i - 2], TURNS[i - 2], OTHER);
      }
    }
    for (Vec turn : TURNS) {
      Snippets.reduce(a, VMAXPS, turn, OTHER);
    }
  }

  /** Rounds a turn's values, multiplied first; {@link #OTHER} becomes their sums as float32. */
  private static void roundTurn(Assembler a, int turn, Vec by) {
    for (int i = turn; i < 4; i += 2) {
      a.op(VMULPS, ymm(i), ymm(i), by);
      a.op(VCVTPS2DQ, ymm(i), ymm(i));
    }
    a.op(VPADDD, OTHER, ymm(turn), ymm(turn + 2));
    a.op(VCVTDQ2PS, OTHER, OTHER);
  }

  /**
   * Loads and rounds to bytes, as {@link #roundByTurns}, but both scales are whole multiples of a
   * third, of which the larger has {@link #MULTIPLES} and one; each is rounded up. Registers 8, 14
   * and 15 are overwritten.
   *
   * @param scale where the third scale goes
   * @param sum where the sum of what was rounded times its scale goes
   * @param multiplier where each turn's multiplier goes, as two int16
   */
  static void roundByMultiples(Assembler a, Mem scale, Mem sum, IntFunction<Mem> multiplier) {
    Vec sums = ymm(8);
    Vec finest = xmm(14);
    Vec one = xmm(15);
    loadTurns(a);
    a.op(VMAXSS, finest, TURNS[0].as(16), TURNS[1].as(16));
    a.op(VMAXSS, finest, finest, LEAST.as(16));
    Snippets.constant(a, one, (float) MULTIPLES, RAX);
    a.op(VDIVSS, finest, one, finest);
    Snippets.constant(a, one, 1f, RAX);
    for (int turn = 0; turn < 2; turn++) {
      // More than the quotient, so that nothing rounds to more than the most.
      Vec times = TURNS[turn];
      a.op(VMULSS, times.as(16), times.as(16), finest);
      a.op(VADDSS, times.as(16), times.as(16), one);
      Snippets.spread(a, times, times);
      a.op(VCVTTPS2DQ, times, times);
      a.op(VPACKSSDW, OTHER, times, times);
      a.op(VMOVSS_STORE, multiplier.apply(turn), OTHER.as(16));
      a.op(VCVTDQ2PS, times, times);
    }
    a.op(VMULSS, finest, finest, MOST.as(16));
    a.op(VDIVSS, SCALE, one, finest);
    a.op(VMOVSS_STORE, scale, SCALE);
    for (int turn = 0; turn < 2; turn++) {
      Snippets.spread(a, OTHER, finest.as(32));
      a.op(VDIVPS, OTHER, OTHER, TURNS[turn]);
      roundTurn(a, turn, OTHER);
      a.op(VMULPS, turn == 0 ? sums : OTHER, OTHER, TURNS[turn]);
    }
    a.op(VADDPS, sums, sums, OTHER);
    Snippets.reduce(a, VADDPS, sums, OTHER);
    a.op(VMULSS, sums.as(16), sums.as(16), SCALE);
    a.op(VMOVSS_STORE, sum, sums.as(16));
  }

  /**
   * Loads and rounds to bytes: the first 16 values and the others each have a scale, of {@link
   * #SCALES}; {@link #SUMS} become the sums of what was rounded.
   */
  static void roundByHalves(Assembler a) {
    // In this order every register has values of the first half below and of the second above.
    loadAll(a, Order.BYTES);
    inHalves(a, VMAXPS, LARGEST, OTHER);
    a.op(VMULPS, SCALES, LARGEST, INVERSE);
    a.op(VMAXPS, LARGEST, LARGEST, LEAST);
    a.op(VDIVPS, LARGEST, MOST, LARGEST);
    for (int i = 0; i < 4; i++) {
      a.op(VMULPS, ymm(i), ymm(i), LARGEST);
      a.op(VCVTPS2DQ, ymm(i), ymm(i));
    }
    a.op(VPADDD, SUMS, ymm(0), ymm(1));
    a.op(VPADDD, SUMS, SUMS, ymm(2));
    a.op(VPADDD, SUMS, SUMS, ymm(3));
    inHalves(a, VPADDD, SUMS, LARGEST);
  }

  /** Puts what becomes of four lanes into each of them, below and above. */
  private static void inHalves(Assembler a, Op op, Vec of, Vec other) {
    a.op(VPERMILPS, other, of, 0x4E);
    a.op(op, of, of, other);
    a.op(VPERMILPS, other, of, 0xB1);
    a.op(op, of, of, other);
  }

  /** Stores registers 0 to 3, loaded for it, as 32 words at RSI. */
  static void storeWords(Assembler a) {
    for (int pair = 0; pair < 2; pair++) {
      Vec packed = ymm(2 * pair);
      a.op(VPACKSSDW, packed, packed, ymm(2 * pair + 1));
      a.op(VMOVDQU_STORE, at(RSI, 32 * pair), packed);
    }
  }

  /** Packs registers 0 to 3, loaded for it, to the 32 bytes of register 0. */
  static void packBytes(Assembler a) {
    a.op(VPACKSSDW, ymm(0), ymm(0), ymm(1));
    a.op(VPACKSSDW, ymm(2), ymm(2), ymm(3));
    a.op(VPACKSSWB, ymm(0), ymm(0), ymm(2));
  }
}

package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTI32X4;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VEXTRACTF64X4;
import static io.steelyard.kernels.assembler.Op.VFMADD213PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPDPBUSD;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPERMT2PS;
import static io.steelyard.kernels.assembler.Op.VPSHUFB;
import static io.steelyard.kernels.assembler.Op.VPSRLW_IMM;
import static io.steelyard.kernels.assembler.Vec.zmm;
import static io.steelyard.kernels.avx512.FewTokens.PRODUCT;
import static io.steelyard.kernels.avx512.FewTokens.ROWS;
import static io.steelyard.kernels.avx512.FewTokens.SCRATCH;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.FifthBits;
import io.steelyard.kernels.avx2.Levels;
import io.steelyard.kernels.avx2.Snippets;
import java.util.Optional;

/**
 * {@link FewTokens} of small blocks of nibbles: four blocks of a row at a time, whose 4-byte words
 * take turns, so that what differs by block is read for all lanes by one load. Low nibbles and high
 * ones have a register each. A row's scales, multiplied with those of the activations, and its sums
 * of offsets are computed for four rows at once, a quarter of the lanes each.
 *
 * <p>Nibbles are weights that are too large by 8 (Q4_0), or that a block's minimum is added to
 * (Q4_1), or they name levels, which are taken less the least one. Some have a fifth bit elsewhere.
 */
abstract class FewNibbles implements FewTokens.Body {
  static final Vec SCALES = zmm(26);
  static final Vec MINIMA = zmm(27);
  static final Vec LOADED = zmm(28);

  final Assembler a;
  final FewTokens of;

  /** Whether blocks have minima, which are added to their values. */
  final boolean minimum;

  final int blockBytes;

  /** The words of four blocks of activations that low and high nibbles are multiplied with. */
  private final Mem low;

  private final Mem high;

  /** The sums of the blocks' halves. */
  private final Mem firsts;

  private final Mem seconds;
  private final Mem bits;

  /** The levels, less the least. */
  private final Optional<Mem> table;

  /** What the sums of offsets are multiplied with. */
  private final Mem excess;

  FewNibbles(Assembler a, FewTokens of, DataType type) {
    this.a = a;
    this.of = of;
    minimum = type == DataType.Q4_1 || type == DataType.Q5_1;
    blockBytes = type.blockBytes();
    low = of.lanes(i -> i % 4 * 8 + i / 4);
    high = of.lanes(i -> i % 4 * 8 + 4 + i / 4);
    firsts = of.lanes(i -> i % 4 * 2);
    seconds = of.lanes(i -> i % 4 * 2 + 1);
    bits = of.bytesOf(0x0F);
    table = Levels.has(type) ? Optional.of(table(of, type)) : Optional.empty();
    excess =
        of.floatsOf(minimum ? 1 : table.isPresent() ? Levels.least(type) : -FifthBits.excess(type));
  }

  /** The levels of a type, less the least one, which makes them unsigned. */
  static Mem table(FewTokens of, DataType type) {
    int least = Levels.least(type);
    return of.longs(Levels.eight(type, true, least), Levels.eight(type, false, least));
  }

  /**
   * Loads the weights of four blocks of a row, whose words take turns.
   *
   * @param some whether there are fewer blocks, beyond which nothing is touched
   */
  abstract void weights(Vec to, int row, boolean some);

  /**
   * Adds the bits that a row's nibbles lack, if any.
   *
   * @param some whether there are fewer than four blocks
   */
  void fifthBits(Vec lows, Vec highs, int row, boolean some) {}

  /** Loads four rows' scales, and minima where there are some. */
  abstract void scales(boolean some);

  /** Float16 scales of four rows, then minima where there are some, become float32. */
  final void toFloats(Vec found) {
    a.op(VCVTPH2PS, SCALES, found.as(32));
    if (minimum) {
      a.op(VEXTRACTF64X4, found.as(32), found, 1);
      a.op(VCVTPH2PS, MINIMA, found.as(32));
    }
  }

  @Override
  public void group() {
    Label rest = new Label();
    Label end = new Label();
    Snippets.clear(a, SCRATCH);
    for (int token = 0; token < of.tokens(); token++) {
      a.op(VMOVUPS_STORE, of.offsets(token), SCRATCH);
    }
    a.sub(RBP, 4);
    a.jump(Condition.LESS, rest);
    Label step = a.loop();
    of.prefetch(4 * blockBytes);
    step(false);
    of.advance(4 * blockBytes, 4);
    a.sub(RBP, 4);
    a.jump(Condition.NOT_LESS, step);
    a.place(rest);
    a.add(RBP, 4);
    a.jump(Condition.EQUAL, end);
    step(true);
    a.place(end);
  }

  /**
   * Multiplies four blocks of each row.
   *
   * @param some whether there are fewer, which masks select
   */
  private void step(boolean some) {
    scales(some);
    scaled();
    for (int row = 0; row < ROWS; row++) {
      Vec lows = zmm(16 + row);
      Vec highs = zmm(20 + row);
      weights(lows, row, some);
      a.op(VPSRLW_IMM, highs, lows, 4);
      a.op(VPANDD, lows, lows, of.held(bits, SCRATCH));
      a.op(VPANDD, highs, highs, of.held(bits, SCRATCH));
      if (table.isPresent()) {
        a.op(VPSHUFB, lows, of.held(table.get(), SCRATCH), lows);
        a.op(VPSHUFB, highs, of.held(table.get(), SCRATCH), highs);
      }
      fifthBits(lows, highs, row, some);
    }
    for (int token = 0; token < of.tokens(); token++) {
      activations(zmm(24), token, low);
      activations(zmm(25), token, high);
      for (int row = 0; row < ROWS; row++) {
        Snippets.clear(a, PRODUCT);
        a.op(VPDPBUSD, PRODUCT, zmm(16 + row), zmm(24));
        a.op(VPDPBUSD, PRODUCT, zmm(20 + row), zmm(25));
        a.op(VCVTDQ2PS, PRODUCT, PRODUCT);
        a.op(VBROADCASTI32X4, SCRATCH, of.scaledQuarter(token, row));
        a.op(VFMADD231PS, of.sum(token, row), PRODUCT, SCRATCH);
      }
    }
  }

  private void activations(Vec to, int token, Mem words) {
    a.op(VMOVUPS, to, of.activations(token, 0));
    Mem others = of.activations(token, 2 * FewActivations.BLOCK);
    a.op(VPERMT2PS, to, of.held(words, LOADED), others);
  }

  /** Four rows' scales times each token's, and the products of offsets. */
  private void scaled() {
    for (int token = 0; token < of.tokens(); token++) {
      a.op(VBROADCASTI32X4, PRODUCT, of.scales(token));
      a.op(VMULPS, PRODUCT, PRODUCT, SCALES);
      a.op(VMOVUPS_STORE, of.scaled(token, 0), PRODUCT);
      a.op(VPERMPS, PRODUCT, of.held(firsts, PRODUCT), of.sums(token));
      a.op(VPERMPS, SCRATCH, of.held(seconds, SCRATCH), of.sums(token));
      a.op(VADDPS, PRODUCT, PRODUCT, SCRATCH);
      a.op(VFMADD213PS, PRODUCT, minimum ? MINIMA : SCALES, of.offsets(token));
      a.op(VMOVUPS_STORE, of.offsets(token), PRODUCT);
    }
  }

  @Override
  public void complete(Vec sums, int token) {
    a.op(VMOVUPS, SCRATCH, of.offsets(token));
    a.op(VFMADD231PS, sums, SCRATCH, excess);
  }
}

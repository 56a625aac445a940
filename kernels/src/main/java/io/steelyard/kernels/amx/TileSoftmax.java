package io.steelyard.kernels.amx;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R13;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTNE2PS2BF16;
import static io.steelyard.kernels.assembler.Op.VFMADD213PS;
import static io.steelyard.kernels.assembler.Op.VMAXPS;
import static io.steelyard.kernels.assembler.Op.VMAXSS;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTD;
import static io.steelyard.kernels.assembler.Op.VRNDSCALEPS;
import static io.steelyard.kernels.assembler.Op.VSCALEFPS;
import static io.steelyard.kernels.assembler.Op.VSUBPS;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.Snippets;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.TileCode;

/**
 * The online softmax of attention in tiles: a block of scores, to base 2, becomes a block of
 * weights of a split product, relative to the largest score so far; and what has been summed up so
 * far is scaled to a new largest. See {@link TileCode} for the blocks.
 *
 * <p>Arguments of its function: scores of 32 rows, in blocks of 16 keys; where the weights go; the
 * rows' state; rows, 1 to 32; pairs of blocks of keys; the rows' sums, in blocks of 16 values.
 *
 * <p>The state is how many blocks of sums there are, as a long; from byte 64 on, of each row 16
 * partial sums of weights; then the largest score of each; then, as int32, how many of these keys
 * each row sees.
 *
 * <p>Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
 */
public final class TileSoftmax {
  /** Where the state's partial sums begin, and the bytes of a row's. */
  public static final int WEIGHT_SUMS = 64;

  public static final int ROW = 64;

  /** Where the largest scores are. */
  public static final int LARGEST = WEIGHT_SUMS + ROW * TileCode.ROWS;

  public static final int VISIBLE = LARGEST + Float.BYTES * TileCode.ROWS;

  /** Bytes of a state. */
  public static final int STATE = VISIBLE + Integer.BYTES * TileCode.ROWS;

  /** The largest score before there is any: no sum of it and another is infinite. */
  public static final float LOWEST = -1e30f;

  /** 2^x between -1/2 and 1/2, to 2.6e-6: what the weights keep is 16 bits. */
  private static final float[] TERMS = {
    0.0095701f, 0.05591786f, 0.24024744f, 0.6931218f, 0.9999993f
  };

  private static final Vec FIRST_TERM = zmm(27);
  private static final Vec SEEN = zmm(26);
  private static final Vec LARGEST_SO_FAR = zmm(25);
  private static final Vec KEYS = zmm(24);
  private static final Vec SIXTEEN = zmm(23);
  private static final Vec UPPER_HALF = zmm(22);
  private static final Vec INDICES = zmm(19);
  private static final int NEAREST = 8;

  private final Assembler a;

  private TileSoftmax(Assembler a) {
    this.a = a;
  }

  static Function function() {
    return Function.of(a -> new TileSoftmax(a).write());
  }

  // RDI and RSI are the row's places, R13 its sums of weights, RBX its largest score, R9 its sums.

  private void write() {
    a.push(RBX);
    a.push(R13);
    for (int i = 0; i < TERMS.length; i++) {
      Snippets.constant(a, zmm(FIRST_TERM.number() + i), TERMS[i], RAX);
    }
    Snippets.constant(a, SIXTEEN, 16, RAX);
    Snippets.indices(a, INDICES, RAX);
    a.mov(RAX, 0xFFFF_0000L);
    a.vpbroadcastd(UPPER_HALF, RAX);
    a.lea(R13, at(RDX, WEIGHT_SUMS));
    a.lea(RBX, at(RDX, LARGEST));
    Label row = a.loop();
    a.op(VPBROADCASTD, SEEN, at(RBX, VISIBLE - LARGEST));
    largest();
    weights();
    a.add(RDI, ROW);
    a.add(RSI, ROW);
    a.add(R13, ROW);
    a.add(R9, ROW);
    a.add(RBX, Float.BYTES);
    a.sub(RCX, 1);
    a.jump(Condition.NOT_EQUAL, row);
    a.pop(R13);
    a.pop(RBX);
  }

  /** Finds the largest of the scores that are seen; where it is a new one, scales all sums. */
  private void largest() {
    Snippets.constant(a, zmm(0), LOWEST, RAX);
    a.op(VMOVUPS, KEYS, INDICES);
    a.mov(R10, RDI);
    a.mov(R11, R8);
    Label pair = a.loop();
    for (int i = 0; i < 2; i++) {
      see();
      a.merge(K1).op(VMAXPS, zmm(0), zmm(0), at(R10, i * TileCode.SUM_BYTES));
    }
    a.add(R10, 2 * TileCode.SUM_BYTES);
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, pair);
    Snippets.reduce(a, VMAXPS, zmm(0), zmm(1));
    a.op(VBROADCASTSS, zmm(2), at(RBX));
    a.op(VMAXSS, xmm(0), xmm(0), xmm(2));
    Snippets.spread(a, LARGEST_SO_FAR, zmm(0));
    a.mov32(R11, at(RBX));
    a.op(VMOVSS_STORE, at(RBX), xmm(0));
    a.mov32(RAX, at(RBX));
    Label same = new Label();
    a.cmp(RAX, R11);
    a.jump(Condition.EQUAL, same);
    a.op(VSUBPS, zmm(2), zmm(2), LARGEST_SO_FAR);
    power(zmm(2));
    scale(R13);
    a.mov(R10, R9);
    a.mov(R11, at(RDX));
    Label block = a.loop();
    scale(R10);
    a.add(R10, TileCode.SUM_BYTES);
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, block);
    a.place(same);
  }

  private void scale(Gpr place) {
    a.op(VMULPS, zmm(0), zmm(2), at(place));
    a.op(VMOVUPS_STORE, at(place), zmm(0));
  }

  /** Selects those of the next 16 keys that the row sees. */
  private void see() {
    a.vpcmpd(K1, KEYS, SEEN, 1);
    a.op(VPADDD, KEYS, KEYS, SIXTEEN);
  }

  private void weights() {
    Vec sum = zmm(6);
    a.op(VMOVUPS, sum, at(R13));
    a.op(VMOVUPS, KEYS, INDICES);
    a.mov(R10, RDI);
    a.mov(RAX, RSI);
    a.mov(R11, R8);
    Label pair = a.loop();
    for (int i = 0; i < 2; i++) {
      Vec weight = zmm(i);
      see();
      a.op(VMOVUPS, weight, at(R10, i * TileCode.SUM_BYTES));
      a.op(VSUBPS, weight, weight, LARGEST_SO_FAR);
      power(weight);
      a.zero(K1).op(VMOVUPS, weight, weight);
      a.op(VADDPS, sum, sum, weight);
      a.op(VPANDD, zmm(2 + i), weight, UPPER_HALF);
      a.op(VSUBPS, weight, weight, zmm(2 + i));
    }
    a.op(VCVTNE2PS2BF16, zmm(2), zmm(3), zmm(2));
    a.op(VMOVUPS_STORE, at(RAX), zmm(2));
    a.op(VCVTNE2PS2BF16, zmm(0), zmm(1), zmm(0));
    a.op(VMOVUPS_STORE, at(RAX, 2 * TileCode.TILE_BYTES), zmm(0));
    a.add(R10, 2 * TileCode.SUM_BYTES);
    a.add(RAX, TileCode.weightBytes(true));
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, pair);
    a.op(VMOVUPS_STORE, at(R13), sum);
  }

  /** {@code x = 2^x}; registers 4 and 5 are overwritten. */
  private void power(Vec x) {
    Vec whole = zmm(4);
    Vec power = zmm(5);
    a.op(VRNDSCALEPS, whole, x, NEAREST);
    a.op(VSUBPS, x, x, whole);
    a.op(VMOVUPS, power, FIRST_TERM);
    for (int i = 1; i < TERMS.length; i++) {
      a.op(VFMADD213PS, power, x, zmm(FIRST_TERM.number() + i));
    }
    a.op(VSCALEFPS, x, power, whole);
  }
}

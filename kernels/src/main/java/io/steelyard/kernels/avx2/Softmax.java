package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
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
import static io.steelyard.kernels.assembler.Op.VEXTRACTF64X4;
import static io.steelyard.kernels.assembler.Op.VFMADD231SS;
import static io.steelyard.kernels.assembler.Op.VMAXPS;
import static io.steelyard.kernels.assembler.Op.VMAXSS;
import static io.steelyard.kernels.assembler.Op.VMOVSS;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTD;
import static io.steelyard.kernels.assembler.Op.VPCMPEQD;
import static io.steelyard.kernels.assembler.Op.VPCMPGTD;
import static io.steelyard.kernels.assembler.Op.VPOR;
import static io.steelyard.kernels.assembler.Op.VPXOR;
import static io.steelyard.kernels.assembler.Op.VSUBPS;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.Product;

/**
 * The online softmax of attention: scores of some keys become weights, relative to the largest
 * score so far, in the place of a {@link Product} tile.
 *
 * <p>Arguments of its functions: scores; bytes from one row's to the next's; the tile; state; steps
 * of 16 keys, at least 1; rows, at least 1. The state is the scale of all scores, then from byte 16
 * on 16 bytes for each row: the largest score so far; the sum of weights so far; how many of these
 * keys the row sees, as int32; and, written here, what earlier sums have to be multiplied with.
 *
 * <p>Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
 */
public final class Softmax {
  /** Bytes before the rows' state. */
  public static final int HEADER = 16;

  /** Bytes of a row's state. */
  public static final int ROW = 16;

  public static final int MAXIMUM = 0;
  public static final int SUM = 4;
  public static final int VISIBLE = 8;
  public static final int CORRECTION = 12;

  /** The largest score before there is any. */
  public static final float LOWEST = -Float.MAX_VALUE;

  private static final Vec LARGEST = ymm(8);
  private static final Vec SCALE = ymm(10);

  private final Assembler a;

  /** Bytes of a vector. */
  private final int bytes;

  private Softmax(Assembler a, int bytes) {
    this.a = a;
    this.bytes = bytes;
  }

  /** With vectors of 32 bytes. */
  static Function narrow() {
    return Function.avx2(a -> new Softmax(a, 32).write());
  }

  /** With vectors of 64 bytes, for AVX-512. */
  public static Function wide() {
    return Function.of(a -> new Softmax(a, 64).write());
  }

  private boolean isWide() {
    return bytes == 64;
  }

  private Vec v(int number) {
    return new Vec(number, bytes);
  }

  private void write() {
    Vec indices = v(11);
    Vec lanes = v(12);
    a.push(RBX);
    Exponential exponential = Exponential.begin(a, bytes, RAX, 0);
    a.op(VBROADCASTSS, SCALE.as(bytes), at(RCX));
    Snippets.indices(a, indices, RAX);
    Snippets.constant(a, lanes, bytes / Float.BYTES, RAX);
    if (!isWide()) {
      a.add(R8, R8);
    }
    a.mov(RBX, R8);
    a.shl(RBX, Integer.SIZE + (isWide() ? 4 : 3));
    a.add(RCX, HEADER);
    Label row = a.loop();
    eitherWay(this::largest, this::largestOfAll);
    Snippets.reduce(a, VMAXPS, v(0), v(2));
    a.op(VMOVSS, xmm(3), at(RCX, MAXIMUM));
    a.op(VMAXSS, xmm(0), xmm(0), xmm(3));
    a.op(VMOVSS_STORE, at(RCX, MAXIMUM), xmm(0));
    Snippets.spread(a, LARGEST.as(bytes), v(0));
    a.op(VSUBPS, v(3), v(3), LARGEST.as(bytes));
    a.op(VMULPS, v(3), v(3), SCALE.as(bytes));
    exponential.apply(v(3), v(4), v(5), v(2));
    a.op(VMOVSS_STORE, at(RCX, CORRECTION), xmm(3));
    a.op(VMOVUPS, v(7), v(3));
    Snippets.clear(a, v(6));
    eitherWay(() -> weights(exponential, true), () -> weights(exponential, false));
    Snippets.reduce(a, VADDPS, v(6), v(2));
    a.op(VFMADD231SS, xmm(6), xmm(7), at(RCX, SUM));
    a.op(VMOVSS_STORE, at(RCX, SUM), xmm(6));
    a.add(RDI, RSI);
    a.add(RDX, 32);
    a.add(RCX, ROW);
    a.sub(R9, 1);
    a.jump(Condition.NOT_EQUAL, row);
    exponential.end();
    a.pop(RBX);
  }

  /**
   * One way for a row that does not see all keys, and another for one that does.
   *
   * <p>RBX has the number of keys in its upper half: a row may see a negative number.
   */
  private void eitherWay(Runnable some, Runnable all) {
    Label sees = new Label();
    Label end = new Label();
    a.mov32(RAX, at(RCX, VISIBLE));
    a.shl(RAX, Integer.SIZE);
    a.cmp(RAX, RBX);
    a.jump(Condition.NOT_LESS, sees);
    some.run();
    a.jmp(end);
    a.place(sees);
    all.run();
    a.place(end);
  }

  /** The largest score of those that the row sees, lane by lane. */
  private void largest() {
    a.op(VPBROADCASTD, v(9), at(RCX, VISIBLE));
    Snippets.constant(a, v(0), LOWEST, RAX);
    a.op(VMOVUPS, v(1), v(11));
    a.mov(R10, RDI);
    a.mov(R11, R8);
    Label next = a.loop();
    if (isWide()) {
      a.vpcmpd(K1, v(1), v(9), 1);
      a.merge(K1).op(VMAXPS, v(0), v(0), at(R10));
    } else {
      // What is not seen becomes all ones, no number, of which the maximum is the other operand.
      a.op(VPCMPGTD, v(2), v(9), v(1));
      a.op(VPCMPEQD, v(3), v(3), v(3));
      a.op(VPXOR, v(2), v(2), v(3));
      a.op(VPOR, v(2), v(2), at(R10));
      a.op(VMAXPS, v(0), v(2), v(0));
    }
    a.op(VPADDD, v(1), v(1), v(12));
    a.add(R10, bytes);
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, next);
  }

  private void largestOfAll() {
    a.op(VMOVUPS, v(0), at(RDI));
    a.mov(R10, RDI);
    a.mov(R11, R8);
    Label next = a.loop();
    a.op(VMAXPS, v(0), v(0), at(R10));
    a.add(R10, bytes);
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, next);
  }

  /**
   * Writes weights and adds them up.
   *
   * @param masked whether keys that the row doesn't see get none
   */
  private void weights(Exponential exponential, boolean masked) {
    a.op(VMOVUPS, v(1), v(11));
    a.mov(R10, RDI);
    a.mov(RAX, RDX);
    a.mov(R11, R8);
    Label next = a.loop();
    a.op(VMOVUPS, v(0), at(R10));
    a.op(VSUBPS, v(0), v(0), LARGEST.as(bytes));
    a.op(VMULPS, v(0), v(0), SCALE.as(bytes));
    exponential.applyToNegative(v(0), v(2), v(3));
    if (masked) {
      seen(v(0), v(2));
      a.op(VPADDD, v(1), v(1), v(12));
    }
    a.op(VADDPS, v(6), v(6), v(0));
    a.op(VMOVUPS_STORE, at(RAX), ymm(0));
    if (isWide()) {
      a.op(VEXTRACTF64X4, at(RAX, Product.F32.tileChunk()), v(0), 1);
    }
    a.add(R10, bytes);
    a.add(RAX, bytes / 32 * Product.F32.tileChunk());
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, next);
  }

  /** Clears the lanes of keys that the row does not see. */
  private void seen(Vec values, Vec scratch) {
    if (isWide()) {
      a.vpcmpd(K1, v(1), v(9), 1);
      a.zero(K1).op(VMOVUPS, values, values);
    } else {
      a.op(VPCMPGTD, scratch, v(9), v(1));
      a.op(VPAND, values, values, scratch);
    }
  }
}

package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
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
import static io.steelyard.kernels.assembler.Op.VPBROADCASTD;
import static io.steelyard.kernels.assembler.Op.VPXORD;
import static io.steelyard.kernels.assembler.Op.VSUBPS;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.ymm;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.machine.Function;

/**
 * The online softmax of attention: scores of some keys become weights, relative to the largest
 * score so far, in the place of a {@link Product} tile.
 *
 * <p>Arguments of its function: scores; bytes from one row's to the next's; the tile; state; steps
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

  private Softmax() {}

  static Function function() {
    return Function.of(Softmax::write);
  }

  private static void write(Assembler a) {
    int chunk = Product.F32.tileChunk();
    Exponential.constants(a, RAX);
    a.op(VBROADCASTSS, zmm(10), at(RCX));
    Snippets.bytes(a, zmm(11), 0x0706_0504_0302_0100L, 0x0F0E_0D0C_0B0A_0908L, RAX);
    Snippets.constant(a, zmm(12), 16, RAX);
    a.add(RCX, HEADER);
    Label row = a.loop();

    // The largest of those seen.
    a.op(VPBROADCASTD, zmm(9), at(RCX, VISIBLE));
    Snippets.constant(a, zmm(0), LOWEST, RAX);
    a.op(VMOVUPS, zmm(1), zmm(11));
    a.mov(R10, RDI);
    a.mov(R11, R8);
    Label largest = a.loop();
    a.vpcmpd(K1, zmm(1), zmm(9), 1);
    a.merge(K1).op(VMAXPS, zmm(0), zmm(0), at(R10));
    a.op(VPADDD, zmm(1), zmm(1), zmm(12));
    a.add(R10, 64);
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, largest);
    Snippets.reduce(a, VMAXPS, zmm(0), zmm(2));
    a.op(VMOVSS, xmm(3), at(RCX, MAXIMUM));
    a.op(VMAXSS, xmm(0), xmm(0), xmm(3));
    a.op(VMOVSS_STORE, at(RCX, MAXIMUM), xmm(0));
    Snippets.spread(a, zmm(8), zmm(0));
    a.op(VSUBPS, zmm(3), zmm(3), zmm(8));
    a.op(VMULPS, zmm(3), zmm(3), zmm(10));
    Exponential.apply(a, zmm(3), zmm(4), zmm(5));
    a.op(VMOVSS_STORE, at(RCX, CORRECTION), xmm(3));
    a.op(VMOVUPS, zmm(7), zmm(3));

    // Weights and their sum.
    a.op(VPXORD, zmm(6), zmm(6), zmm(6));
    a.op(VMOVUPS, zmm(1), zmm(11));
    a.mov(R10, RDI);
    a.mov(RAX, RDX);
    a.mov(R11, R8);
    Label weights = a.loop();
    a.vpcmpd(K1, zmm(1), zmm(9), 1);
    a.op(VMOVUPS, zmm(0), at(R10));
    a.op(VSUBPS, zmm(0), zmm(0), zmm(8));
    a.op(VMULPS, zmm(0), zmm(0), zmm(10));
    Exponential.apply(a, zmm(0), zmm(2), zmm(3));
    a.zero(K1).op(VMOVUPS, zmm(0), zmm(0));
    a.op(VADDPS, zmm(6), zmm(6), zmm(0));
    a.op(VMOVUPS_STORE, at(RAX), ymm(0));
    a.op(VEXTRACTF64X4, at(RAX, chunk), zmm(0), 1);
    a.op(VPADDD, zmm(1), zmm(1), zmm(12));
    a.add(R10, 64);
    a.add(RAX, 2 * chunk);
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, weights);
    Snippets.reduce(a, VADDPS, zmm(6), zmm(2));
    a.op(VFMADD231SS, xmm(6), xmm(7), at(RCX, SUM));
    a.op(VMOVSS_STORE, at(RCX, SUM), xmm(6));

    a.add(RDI, RSI);
    a.add(RDX, 32);
    a.add(RCX, ROW);
    a.sub(R9, 1);
    a.jump(Condition.NOT_EQUAL, row);
  }
}

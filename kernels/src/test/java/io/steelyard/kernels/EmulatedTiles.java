package io.steelyard.kernels;

import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VDPBF16PS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTD;
import static io.steelyard.kernels.assembler.Op.VPXORD;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.amx.Amx;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.TileCode;

/**
 * What the AMX tier does, on processors without AMX: the same blocks of weights, activations and
 * sums, multiplied tile by tile with the AVX-512 product of bf16 pairs.
 */
final class EmulatedTiles extends Amx {
  static Kernels kernels(int threads, boolean deterministic) {
    return new MachineKernels(
        new ThreadTeam(threads), Tier.AVX512, new EmulatedTiles(), deterministic);
  }

  @Override
  protected Function makeProduct(boolean split) {
    return Function.of(a -> write(a, split));
  }

  private static void write(Assembler a, boolean split) {
    a.mov(R9, at(R9));
    Label block = a.loop();
    Label begun = new Label();
    a.test(R9, R9);
    a.jump(Condition.NOT_EQUAL, begun);
    a.op(VPXORD, zmm(0), zmm(0), zmm(0));
    for (int at = 0; at < TileCode.SUM_BYTES; at += 64) {
      a.op(VMOVUPS_STORE, at(RDX, at), zmm(0));
    }
    a.place(begun);
    a.mov(RAX, RDI);
    a.mov(R11, R8);
    Label chunk = a.loop();
    int[][] parts = split ? new int[][] {{0, 0}, {2, 0}, {0, 1}} : new int[][] {{0, 0}};
    for (int[] part : parts) {
      for (int sum = 0; sum < 2; sum++) {
        int weights = (part[0] + sum) * TileCode.TILE_BYTES;
        int activations = part[1] * TileCode.TILE_BYTES;
        multiply(a, weights, activations, sum * TileCode.TILE_BYTES);
      }
    }
    a.add(RAX, TileCode.weightBytes(split));
    a.add(RSI, TileCode.activationBytes(split));
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, chunk);
    a.add(RDX, TileCode.SUM_BYTES);
    a.sub(RCX, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }

  private static void multiply(Assembler a, int weights, int activations, int sums) {
    for (int row = 0; row < 16; row++) {
      a.op(VMOVUPS, zmm(row), at(RDX, sums + 64 * row));
    }
    for (int pair = 0; pair < 16; pair++) {
      a.op(VMOVUPS, zmm(16), at(RSI, activations + 64 * pair));
      for (int row = 0; row < 16; row++) {
        a.op(VPBROADCASTD, zmm(17), at(RAX, weights + 64 * row + 4 * pair));
        a.op(VDPBF16PS, zmm(row), zmm(17), zmm(16));
      }
    }
    for (int row = 0; row < 16; row++) {
      a.op(VMOVUPS_STORE, at(RDX, sums + 64 * row), zmm(row));
    }
  }
}

package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R14;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Mask.K2;
import static io.steelyard.kernels.assembler.Mask.K3;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VBROADCASTI32X4;
import static io.steelyard.kernels.assembler.Op.VMAXPS;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPSLLD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRLD_IMM;
import static io.steelyard.kernels.assembler.Vec.zmm;
import static io.steelyard.kernels.avx512.FewTokens.ROWS;
import static io.steelyard.kernels.avx512.FewTokens.SCRATCH;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.Levels;

/**
 * {@link FewNibbles} of MXFP4, whose blocks have 17 bytes: an exponent and nibbles. Each is loaded
 * into a quarter of the lanes.
 */
final class FewMicroscaled extends FewNibbles {
  private static final int BLOCK_BYTES = DataType.MXFP4.blockBytes();

  /** The first, second and so on words of four blocks' quarters. */
  private final Mem turns;

  /** The first words of four blocks' quarters, for every row. */
  private final Mem firsts;

  private final Mem least;
  private final Mem half;

  FewMicroscaled(Assembler a, FewTokens of) {
    super(a, of, DataType.MXFP4);
    turns = of.lanes(i -> i % 4 * 4 + i / 4);
    firsts = of.lanes(i -> i % 4 * 4);
    least = of.floatsOf(Levels.LEAST_POWER);
    half = of.floatsOf(Levels.HALF);
    // Of one to three blocks at a row's end, K2 and K3 select the second's and the third's quarter
    // if it is there.
    a.mov(RBP, at(R9));
    a.and(RBP, 3);
    a.shl(RBP, 2);
    a.mov(R14, 1);
    a.shlx(R14, R14, RBP);
    a.sub(R14, 1);
    a.mov(RAX, R14);
    a.and(RAX, 0x00F0);
    a.kmovd(K2, RAX);
    a.and(R14, 0x0F00);
    a.kmovd(K3, R14);
  }

  /** 16 bytes from a place of each of four blocks. Where there are fewer, the first's again. */
  private void blocks(Vec to, int row, int place, boolean some) {
    for (int block = 0; block < (some ? 3 : 4); block++) {
      Assembler quarter = !some || block == 0 ? of.quarter(block) : a.merge(block == 1 ? K2 : K3);
      quarter.op(VBROADCASTI32X4, to, of.row(row, BLOCK_BYTES * block + place));
    }
  }

  @Override
  void weights(Vec to, int row, boolean some) {
    blocks(to, row, 1, some);
    a.op(VPERMPS, to, of.held(turns, LOADED), to);
  }

  @Override
  void scales(boolean some) {
    Vec words = of.held(firsts, zmm(24));
    for (int row = 0; row < ROWS; row++) {
      blocks(LOADED, row, 0, some);
      of.quarter(row).op(VPERMPS, SCALES, words, LOADED);
    }
    // The lowest byte becomes a float32's exponent.
    a.op(VPSLLD_IMM, SCALES, SCALES, 24);
    a.op(VPSRLD_IMM, SCALES, SCALES, 1);
    a.op(VMAXPS, SCALES, SCALES, of.held(least, SCRATCH));
    a.op(VMULPS, SCALES, SCALES, of.held(half, SCRATCH));
  }
}

package io.steelyard.kernels.amx;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VDIVSS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.avx2.Snippets;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.TileCode;

/**
 * A row's sums over values, see {@link TileSoftmax}, divided by its sum of weights.
 *
 * <p>Arguments of its function: the row's sums in the first block of 16 values; where they go;
 * whole blocks; values after the last of them; the row's partial sums of weights.
 */
final class TileAttended {
  private TileAttended() {}

  static Function function() {
    return Function.of(TileAttended::write);
  }

  private static void write(Assembler a) {
    a.op(VMOVUPS, zmm(0), at(R8));
    Snippets.reduce(a, VADDPS, zmm(0), zmm(1));
    Snippets.constant(a, xmm(1), 1f, RAX);
    a.op(VDIVSS, xmm(1), xmm(1), xmm(0));
    Snippets.spread(a, zmm(1), zmm(1));
    Snippets.first(a, K1, RCX, RAX);
    Label rest = new Label();
    Label end = new Label();
    a.test(RDX, RDX);
    a.jump(Condition.EQUAL, rest);
    Label block = a.loop();
    a.op(VMULPS, zmm(0), zmm(1), at(RDI));
    a.op(VMOVUPS_STORE, at(RSI), zmm(0));
    a.add(RDI, TileCode.SUM_BYTES);
    a.add(RSI, 64);
    a.sub(RDX, 1);
    a.jump(Condition.NOT_EQUAL, block);
    a.place(rest);
    a.test(RCX, RCX);
    a.jump(Condition.EQUAL, end);
    a.op(VMULPS, zmm(0), zmm(1), at(RDI));
    a.merge(K1).op(VMOVUPS_STORE, at(RSI), zmm(0));
    a.place(end);
  }
}

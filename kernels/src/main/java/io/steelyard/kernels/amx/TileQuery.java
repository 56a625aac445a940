package io.steelyard.kernels.amx;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mask.K2;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.avx2.Snippets;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.TileCode;

/**
 * One query as a row of a block of weights of a split product, see {@link TileCode}.
 *
 * <p>Arguments of its function: the query; the row's place in the first chunk; whole chunks; values
 * after the last of them; a float32 that all are multiplied with.
 */
final class TileQuery {
  private TileQuery() {}

  static Function function() {
    return Function.of(TileQuery::write);
  }

  private static void write(Assembler a) {
    Snippets.broadcast(a, zmm(31), R8);
    Snippets.first(a, K1, RCX, RAX);
    a.shr(RAX, 16);
    a.kmovq(K2, RAX);
    Label rest = new Label();
    Label end = new Label();
    a.test(RDX, RDX);
    a.jump(Condition.EQUAL, rest);
    Label chunk = a.loop();
    chunk(a, false);
    a.add(RDI, TileCode.CHUNK * Float.BYTES);
    a.add(RSI, TileCode.weightBytes(true));
    a.sub(RDX, 1);
    a.jump(Condition.NOT_EQUAL, chunk);
    a.place(rest);
    a.test(RCX, RCX);
    a.jump(Condition.EQUAL, end);
    chunk(a, true);
    a.place(end);
  }

  private static void chunk(Assembler a, boolean some) {
    (some ? a.zero(K1) : a).op(VMOVUPS, zmm(0), at(RDI));
    (some ? a.zero(K2) : a).op(VMOVUPS, zmm(1), at(RDI, 64));
    for (int i = 0; i < 2; i++) {
      a.op(VMULPS, zmm(i), zmm(i), zmm(31));
    }
    Split.store(a, at(RSI), at(RSI, 2 * TileCode.TILE_BYTES));
  }
}

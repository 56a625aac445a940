package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VMASKMOVPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VPCMPGTD;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.Product;

/**
 * Writes a token's activations into its place of a tile of {@link Product#F32}.
 *
 * <p>Arguments of its function: the activations; the token's place in the tile's first chunk; whole
 * chunks, at least 0; values after the last whole chunk.
 */
final class FloatTile {
  private FloatTile() {}

  static Function function() {
    return Function.avx2(FloatTile::write);
  }

  private static void write(Assembler a) {
    int bytes = Product.F32.tokenBytes();
    Label rest = new Label();
    Label end = new Label();
    a.test(RDX, RDX);
    a.jump(Condition.EQUAL, rest);
    Label chunk = a.loop();
    a.op(VMOVUPS, ymm(0), at(RDI));
    a.op(VMOVUPS_STORE, at(RSI), ymm(0));
    a.add(RDI, bytes);
    a.add(RSI, Product.F32.tileChunk());
    a.sub(RDX, 1);
    a.jump(Condition.NOT_EQUAL, chunk);
    a.place(rest);
    a.test(RCX, RCX);
    a.jump(Condition.EQUAL, end);
    Snippets.indices(a, ymm(1), RAX);
    Snippets.broadcast(a, ymm(2), RCX);
    a.op(VPCMPGTD, ymm(2), ymm(2), ymm(1));
    a.op(VMASKMOVPS, ymm(0), ymm(2), at(RDI));
    a.op(VMOVUPS_STORE, at(RSI), ymm(0));
    a.place(end);
  }
}

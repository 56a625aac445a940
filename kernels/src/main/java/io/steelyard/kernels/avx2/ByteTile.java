package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VMOVDQU_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VPXOR;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.Product;

/**
 * Writes a token's activations into its place of a tile of bytes: 32 values become {@code 128 + x /
 * scale}, where the largest becomes ±127.
 *
 * <p>Arguments of its function: the activations; the token's place in the tile's first chunk;
 * chunks, at least 1; not used; the token's scale in the tile's first chunk.
 */
final class ByteTile {
  private static final Vec SHIFT = ymm(14);

  private ByteTile() {}

  static Function function() {
    return Function.avx2(ByteTile::write);
  }

  private static void write(Assembler a) {
    Rounding.constants(a, 127f);
    Snippets.constant(a, SHIFT, 0x8080_8080, RAX);
    Label chunk = a.loop();
    Vec sum = Rounding.round(a, Rounding.Order.BYTES, at(R8));
    a.op(VMOVSS_STORE, at(R8, Product.tileSum(0) - Product.tileScale(0)), sum);
    Rounding.packBytes(a);
    a.op(VPXOR, ymm(0), ymm(0), SHIFT);
    a.op(VMOVDQU_STORE, at(RSI), ymm(0));
    a.add(RDI, 128);
    a.add(RSI, Product.BYTES.tileChunk());
    a.add(R8, Product.BYTES.tileChunk());
    a.sub(RDX, 1);
    a.jump(Condition.NOT_EQUAL, chunk);
  }
}

package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VMOVDQU_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.Product;

/**
 * Writes a token's activations into its place of a tile: 32 values become whole numbers with a
 * common scale, of 16 bits for a product of words, otherwise of 8.
 *
 * <p>Arguments of its functions: the activations; the token's place in the tile's first chunk;
 * chunks, at least 1; not used; the token's scale in the tile's first chunk.
 */
final class IntegerTile {
  private IntegerTile() {}

  static Function of(Product product) {
    return Function.avx2(a -> write(a, product));
  }

  private static void write(Assembler a, Product product) {
    boolean words = product.isWords();
    Rounding.constants(a, words ? Short.MAX_VALUE : Byte.MAX_VALUE);
    Label chunk = a.loop();
    Rounding.Order order = words ? Rounding.Order.WORDS : Rounding.Order.BYTES;
    Vec sum = Rounding.round(a, order, at(R8));
    a.op(VMOVSS_STORE, at(R8, product.tileSum(0) - product.tileScale(0)), sum);
    if (words) {
      Rounding.storeWords(a);
    } else {
      Rounding.packBytes(a);
      a.op(VMOVDQU_STORE, at(RSI), ymm(0));
    }
    a.add(RDI, 128);
    a.add(RSI, product.tileChunk());
    a.add(R8, product.tileChunk());
    a.sub(RDX, 1);
    a.jump(Condition.NOT_EQUAL, chunk);
  }
}

package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.machine.Product.WORDS;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;

/**
 * Writes a token's activations into its place of a tile of words: 32 values become whole numbers
 * with a common scale, the largest of them ±32,767.
 *
 * <p>Arguments of its function: the activations; the token's place in the tile's first chunk;
 * chunks, at least 1; not used; the token's scale in the tile's first chunk.
 */
final class WordTile {
  private static final float LARGEST = 32_767;

  private WordTile() {}

  static Function function() {
    return Function.avx2(WordTile::write);
  }

  private static void write(Assembler a) {
    Rounding.constants(a, LARGEST);
    Label chunk = a.loop();
    Vec sum = Rounding.round(a, Rounding.Order.WORDS, at(R8));
    a.op(VMOVSS_STORE, at(R8, WORDS.tileSum(0) - WORDS.tileScale(0)), sum);
    Rounding.storeWords(a);
    a.add(RDI, 128);
    a.add(RSI, WORDS.tileChunk());
    a.add(R8, WORDS.tileChunk());
    a.sub(RDX, 1);
    a.jump(Condition.NOT_EQUAL, chunk);
  }
}

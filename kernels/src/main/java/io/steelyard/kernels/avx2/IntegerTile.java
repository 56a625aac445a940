package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VEXTRACTF128;
import static io.steelyard.kernels.assembler.Op.VMOVDQU_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VPSLLD_IMM;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.Product;

/**
 * Writes a token's activations into its place of a tile: 32 values become whole numbers of 16 bits
 * with a common scale for a product of words, otherwise of 8 bits with two scales.
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
    Rounding.constants(a, product.isWords() ? Short.MAX_VALUE : Byte.MAX_VALUE);
    Label chunk = a.loop();
    int scale = product.tileScale(0);
    Mem sum = at(R8, product.tileSum(0) - scale);
    switch (product) {
      case UNSIGNED ->
          Rounding.roundByMultiples(
              a, at(R8), sum, turn -> at(R8, product.tileMultiplier(turn, 0) - scale));
      case SIX_BITS -> {
        Rounding.roundByHalves(a);
        a.op(VPSLLD_IMM, Rounding.SUMS, Rounding.SUMS, 5);
        halves(a, Rounding.SCALES, at(R8), at(R8, product.tileSecondScale(0) - scale));
        halves(a, Rounding.SUMS, sum, at(R8, product.tileSecondSum(0) - scale));
      }
      default -> a.op(VMOVSS_STORE, sum, Rounding.roundToWords(a, at(R8)));
    }
    if (product.isWords()) {
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

  /** Stores the lowest lane of either half of a register, which is overwritten. */
  private static void halves(Assembler a, Vec of, Mem first, Mem second) {
    a.op(VMOVSS_STORE, first, of.as(16));
    a.op(VEXTRACTF128, of.as(16), of, 1);
    a.op(VMOVSS_STORE, second, of.as(16));
  }
}

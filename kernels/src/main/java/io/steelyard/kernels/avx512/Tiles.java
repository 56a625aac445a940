package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTNEPS2BF16;
import static io.steelyard.kernels.assembler.Op.VCVTPS2DQ;
import static io.steelyard.kernels.assembler.Op.VDIVSS;
import static io.steelyard.kernels.assembler.Op.VMAXPS;
import static io.steelyard.kernels.assembler.Op.VMAXSS;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VMULSS;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPANDD;
import static io.steelyard.kernels.assembler.Op.VPMOVDB;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.ymm;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.Snippets;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.Product;

/**
 * Writes a token's activations into its place of a {@link Product}'s tile of bytes or bf16.
 *
 * <p>Arguments of its functions: the activations; the token's place in the tile's first chunk;
 * whole chunks, at least 0; values after the last whole chunk, 0 for bytes; the token's scale in
 * the tile's first chunk, for bytes only.
 */
final class Tiles {
  private Tiles() {}

  static Function of(Product product) {
    return Function.of(
        a -> {
          if (product.isBytes()) {
            Snippets.constant(a, zmm(10), 0x7FFF_FFFF, RAX);
            Snippets.constant(a, zmm(11), 128, RAX);
            Snippets.constant(a, zmm(12), 127f, RAX);
            Snippets.constant(a, zmm(13), 1e-30f, RAX);
            Snippets.constant(a, zmm(14), 1 / 127f, RAX);
          }
          Label end = new Label();
          Label rest = new Label();
          a.test(RDX, RDX);
          a.jump(Condition.EQUAL, rest);
          Label chunk = a.loop();
          if (product.isBytes()) {
            bytes(a);
          } else {
            bf16(a, a);
          }
          a.add(RDI, product.chunkValues() * Float.BYTES);
          a.add(RSI, product.tileChunk());
          a.add(R8, product.tileChunk());
          a.sub(RDX, 1);
          a.jump(Condition.NOT_EQUAL, chunk);
          a.place(rest);
          if (!product.isBytes()) {
            a.test(RCX, RCX);
            a.jump(Condition.EQUAL, end);
            Snippets.first(a, K1, RCX, RAX);
            bf16(a, a.zero(K1));
          }
          a.place(end);
        });
  }

  /** 16 values, loaded by an assembler that may have been told to leave some out. */
  private static void bf16(Assembler a, Assembler loading) {
    loading.op(VMOVUPS, zmm(0), at(RDI));
    a.op(VCVTNEPS2BF16, ymm(0), zmm(0));
    a.op(VMOVUPS_STORE, at(RSI), ymm(0));
  }

  /** 32 values become bytes of 128 + x / scale, where the largest becomes ±127. */
  private static void bytes(Assembler a) {
    Vec low = zmm(0);
    Vec high = zmm(1);
    a.op(VMOVUPS, low, at(RDI));
    a.op(VMOVUPS, high, at(RDI, 64));
    a.op(VPANDD, zmm(2), low, zmm(10));
    a.op(VPANDD, zmm(3), high, zmm(10));
    a.op(VMAXPS, zmm(2), zmm(2), zmm(3));
    Snippets.reduce(a, VMAXPS, zmm(2), zmm(3));
    a.op(VMULSS, xmm(4), xmm(2), xmm(14));
    a.op(VMOVSS_STORE, at(R8), xmm(4));
    a.op(VMAXSS, xmm(2), xmm(2), xmm(13));
    a.op(VDIVSS, xmm(2), xmm(12), xmm(2));
    Snippets.spread(a, zmm(2), zmm(2));
    for (int half = 0; half < 2; half++) {
      a.op(VMULPS, zmm(half), zmm(half), zmm(2));
      a.op(VCVTPS2DQ, zmm(half), zmm(half));
    }
    // Of what was rounded, so that an offset and the rounding's error don't add up.
    a.op(VPADDD, zmm(5), low, high);
    a.op(VCVTDQ2PS, zmm(5), zmm(5));
    Snippets.reduce(a, VADDPS, zmm(5), zmm(3));
    a.op(VMULSS, xmm(5), xmm(5), xmm(4));
    a.op(VMOVSS_STORE, at(R8, Product.BYTES.tileSum(0) - Product.BYTES.tileScale(0)), xmm(5));
    for (int half = 0; half < 2; half++) {
      a.op(VPADDD, zmm(half), zmm(half), zmm(11));
      a.op(VPMOVDB, at(RSI, 16 * half), zmm(half));
    }
  }
}

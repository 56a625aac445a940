package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPS2DQ;
import static io.steelyard.kernels.assembler.Op.VDIVSS;
import static io.steelyard.kernels.assembler.Op.VINSERTI128;
import static io.steelyard.kernels.assembler.Op.VMAXPS;
import static io.steelyard.kernels.assembler.Op.VMAXSS;
import static io.steelyard.kernels.assembler.Op.VMOVDQU_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVSS_STORE;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VMULSS;
import static io.steelyard.kernels.assembler.Op.VPACKSSDW;
import static io.steelyard.kernels.assembler.Op.VPACKSSWB;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPAND;
import static io.steelyard.kernels.assembler.Op.VPXOR;
import static io.steelyard.kernels.assembler.Vec.xmm;
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
  private static final Vec ABSOLUTE = ymm(10);
  private static final Vec SHIFT = ymm(11);
  private static final Vec MOST = ymm(12);
  private static final Vec LEAST = ymm(13);
  private static final Vec INVERSE = ymm(14);

  private ByteTile() {}

  static Function function() {
    return Function.avx2(ByteTile::write);
  }

  private static void write(Assembler a) {
    Snippets.constant(a, ABSOLUTE, 0x7FFF_FFFF, RAX);
    Snippets.constant(a, SHIFT, 0x8080_8080, RAX);
    Snippets.constant(a, MOST, 127f, RAX);
    Snippets.constant(a, LEAST, 1e-30f, RAX);
    Snippets.constant(a, INVERSE, 1 / 127f, RAX);
    Vec largest = ymm(4);
    Vec other = ymm(5);
    Vec scale = xmm(6);
    Label chunk = a.loop();
    for (int i = 0; i < 4; i++) {
      // Packing works within 16 bytes, so these are four and the four that lie 16 behind.
      a.op(VMOVUPS, xmm(i), at(RDI, 16 * i));
      a.op(VINSERTI128, ymm(i), ymm(i), at(RDI, 64 + 16 * i), 1);
      a.op(VPAND, i == 0 ? largest : other, ymm(i), ABSOLUTE);
      if (i > 0) {
        a.op(VMAXPS, largest, largest, other);
      }
    }
    Snippets.reduce(a, VMAXPS, largest, other);
    a.op(VMULSS, scale, largest.as(16), INVERSE.as(16));
    a.op(VMOVSS_STORE, at(R8), scale);
    a.op(VMAXSS, largest.as(16), largest.as(16), LEAST.as(16));
    a.op(VDIVSS, largest.as(16), MOST.as(16), largest.as(16));
    Snippets.spread(a, largest, largest);
    for (int i = 0; i < 4; i++) {
      a.op(VMULPS, ymm(i), ymm(i), largest);
      a.op(VCVTPS2DQ, ymm(i), ymm(i));
    }
    // Of what was rounded, so that an offset and the rounding's error don't add up.
    a.op(VPADDD, other, ymm(0), ymm(1));
    a.op(VPADDD, ymm(7), ymm(2), ymm(3));
    a.op(VPADDD, other, other, ymm(7));
    a.op(VCVTDQ2PS, other, other);
    Snippets.reduce(a, VADDPS, other, ymm(7));
    a.op(VMULSS, other.as(16), other.as(16), scale);
    a.op(VMOVSS_STORE, at(R8, Product.tileSum(0) - Product.tileScale(0)), other.as(16));
    a.op(VPACKSSDW, ymm(0), ymm(0), ymm(1));
    a.op(VPACKSSDW, ymm(2), ymm(2), ymm(3));
    a.op(VPACKSSWB, ymm(0), ymm(0), ymm(2));
    a.op(VPXOR, ymm(0), ymm(0), SHIFT);
    a.op(VMOVDQU_STORE, at(RSI), ymm(0));
    a.add(RDI, 128);
    a.add(RSI, Product.BYTES.tileChunk());
    a.add(R8, Product.BYTES.tileChunk());
    a.sub(RDX, 1);
    a.jump(Condition.NOT_EQUAL, chunk);
  }
}

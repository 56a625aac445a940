package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VADDPS;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTNEPS2BF16;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPMOVSXBD;
import static io.steelyard.kernels.assembler.Vec.ymm;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.Product;

/**
 * Turns what unpacking wrote of a row into bf16.
 *
 * <p>Arguments of its functions: the bytes; their scales; their offsets; where bf16 values go; runs
 * of 32 values, at least 1.
 */
final class WidenToBf16 {
  private WidenToBf16() {}

  /** For the types whose panels would be of this kind. */
  static Function of(Product product) {
    return Function.of(a -> write(a, product));
  }

  private static void write(Assembler a, Product product) {
    boolean halves = product == Product.BYTES_HALVES;
    boolean offset = product == Product.BYTES_OFFSET;
    Label run = a.loop();
    for (int half = 0; half < 2; half++) {
      a.op(VPMOVSXBD, zmm(0), at(RDI, 16 * half));
      a.op(VCVTDQ2PS, zmm(0), zmm(0));
      a.op(VBROADCASTSS, zmm(1), at(RSI, halves ? 4 * half : 0));
      a.op(VMULPS, zmm(0), zmm(0), zmm(1));
      if (offset) {
        a.op(VBROADCASTSS, zmm(1), at(RDX));
        a.op(VADDPS, zmm(0), zmm(0), zmm(1));
      }
      a.op(VCVTNEPS2BF16, ymm(0), zmm(0));
      a.op(VMOVUPS_STORE, at(RCX, 32 * half), ymm(0));
    }
    a.add(RDI, 32);
    a.add(RSI, halves ? 8 : 4);
    a.add(RDX, 4);
    a.add(RCX, 64);
    a.sub(R8, 1);
    a.jump(Condition.NOT_EQUAL, run);
  }
}

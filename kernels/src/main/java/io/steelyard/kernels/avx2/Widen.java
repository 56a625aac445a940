package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VBROADCASTSS;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD213PS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPMOVSXBD;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.Product;

/**
 * Turns what {@link Unpack} wrote of a row into float32.
 *
 * <p>Arguments of its functions: the bytes; their scales; their offsets; where float32 values go;
 * runs of 32 values, at least 1.
 */
final class Widen {
  private Widen() {}

  /** For the types whose panels of bytes would be of this kind. */
  static Function of(Product product) {
    return Function.avx2(a -> write(a, product));
  }

  private static void write(Assembler a, Product product) {
    boolean halves = product == Product.BYTES_HALVES;
    boolean offset = product == Product.BYTES_OFFSET;
    Label run = a.loop();
    if (offset) {
      a.op(VBROADCASTSS, ymm(2), at(RDX));
    }
    for (int quarter = 0; quarter < 4; quarter++) {
      if (quarter == 0 || (halves && quarter == 2)) {
        a.op(VBROADCASTSS, ymm(1), at(RSI, 2 * quarter));
      }
      a.op(VPMOVSXBD, ymm(0), at(RDI, 8 * quarter));
      a.op(VCVTDQ2PS, ymm(0), ymm(0));
      if (offset) {
        a.op(VFMADD213PS, ymm(0), ymm(1), ymm(2));
      } else {
        a.op(VMULPS, ymm(0), ymm(0), ymm(1));
      }
      a.op(VMOVUPS_STORE, at(RCX, 32 * quarter), ymm(0));
    }
    a.add(RDI, 32);
    a.add(RSI, halves ? 8 : 4);
    a.add(RDX, 4);
    a.add(RCX, 128);
    a.sub(R8, 1);
    a.jump(Condition.NOT_EQUAL, run);
  }
}

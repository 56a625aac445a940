package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R10;
import static io.steelyard.kernels.assembler.Gpr.R11;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VINSERTI64X4;
import static io.steelyard.kernels.assembler.Op.VMOVDQU;
import static io.steelyard.kernels.assembler.Op.VMOVDQU32_STORE;
import static io.steelyard.kernels.assembler.Op.VPDPBUSD;
import static io.steelyard.kernels.assembler.Op.VPSUBD;
import static io.steelyard.kernels.assembler.Op.VPXORD;
import static io.steelyard.kernels.assembler.Op.VSHUFI32X4;
import static io.steelyard.kernels.assembler.Vec.ymm;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.Product;
import java.util.function.IntUnaryOperator;

/**
 * Turns 16 rows into columns, 4 bytes at a time: how rows become half of a {@link Product}'s panel.
 *
 * <p>Arguments of its functions: where the first column goes; the first row; bytes from one row to
 * the next; how many pieces of 32 bytes each row has; bytes from where one piece's columns go to
 * where the next's do; bytes from one piece of a row to the next.
 */
final class Transpose {
  private static final int SHIFT_128 = 0x8080_8080;

  private Transpose() {}

  /** A panel's values. */
  static Function values() {
    return Function.of(a -> write(a, step -> 128 * step, 0));
  }

  /** A panel's bytes, and after every chunk what makes up for the activations' offset of 128. */
  static Function bytes(Product product) {
    return Function.of(a -> write(a, step -> 128 * step, product.runs()));
  }

  /** One constant of each of eight chunks; for halves, both constants of each of four. */
  static Function constants(Product product) {
    return Function.of(
        a ->
            write(
                a,
                product.runs() == 2
                    ? step -> step / 2 * product.panelChunk() + step % 2 * product.secondHalf()
                    : step -> step * product.panelChunk(),
                0));
  }

  /**
   * Writes the function.
   *
   * @param place where the column of a step goes, in bytes from the piece's first
   * @param runs how many sums are stored with each piece: none, one, or one for each half
   */
  private static void write(Assembler a, IntUnaryOperator place, int runs) {
    Vec offset = zmm(30);
    a.push(RBX);
    if (runs > 0) {
      a.mov(RAX, SHIFT_128 & 0xFFFF_FFFFL);
      a.vpbroadcastd(offset, RAX);
    }
    // Row 4i is at base i, rows 4i+1 to 4i+3 after it.
    a.lea(R10, at(RDX, RDX, 2));
    a.lea(R11, at(RSI, RDX, 4));
    a.lea(RAX, at(RSI, RDX, 8));
    a.lea(RBX, at(R11, RDX, 8));
    Label piece = a.loop();
    for (int i = 0; i < 4; i++) {
      load(a, i, row(RSI, i), row(R11, i));
      load(a, 4 + i, row(RAX, i), row(RBX, i));
    }
    Square.quad(a, 0, 8);
    Square.quad(a, 4, 12);
    for (int i = 0; i < 4; i++) {
      a.op(VSHUFI32X4, zmm(16 + i), zmm(i), zmm(4 + i), 0x88);
      a.op(VSHUFI32X4, zmm(20 + i), zmm(i), zmm(4 + i), 0xDD);
    }
    for (int step = 0; step < Product.STEPS; step++) {
      a.op(VMOVDQU32_STORE, at(RDI, place.applyAsInt(step)), zmm(16 + step));
    }
    for (int run = 0; run < runs; run++) {
      Vec sum = zmm(24 + run);
      a.op(VPXORD, sum, sum, sum);
      for (int step = run * 8 / runs; step < (run + 1) * 8 / runs; step++) {
        a.op(VPDPBUSD, sum, offset, zmm(16 + step));
      }
      a.op(VPXORD, zmm(28), zmm(28), zmm(28));
      a.op(VPSUBD, sum, zmm(28), sum);
      a.op(VMOVDQU32_STORE, at(RDI, Product.SUMS + run * Product.BYTES.secondHalf()), sum);
    }
    for (Gpr base : new Gpr[] {RSI, R11, RAX, RBX}) {
      a.add(base, R9);
    }
    a.add(RDI, R8);
    a.sub(RCX, 1);
    a.jump(Condition.NOT_EQUAL, piece);
    a.pop(RBX);
  }

  private static Mem row(Gpr base, int i) {
    return switch (i) {
      case 0 -> at(base);
      case 1 -> at(base, RDX, 1);
      case 2 -> at(base, RDX, 2);
      default -> at(base, R10, 1);
    };
  }

  private static void load(Assembler a, int register, Mem low, Mem high) {
    a.op(VMOVDQU, ymm(register), low);
    a.op(VINSERTI64X4, zmm(register), zmm(register), high, 1);
  }
}

package io.steelyard.kernels.avx2;

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
import static io.steelyard.kernels.assembler.Op.VINSERTI128;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VPUNPCKHDQ;
import static io.steelyard.kernels.assembler.Op.VPUNPCKHQDQ;
import static io.steelyard.kernels.assembler.Op.VPUNPCKLDQ;
import static io.steelyard.kernels.assembler.Op.VPUNPCKLQDQ;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
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
  private final Assembler a;
  private final IntUnaryOperator place;

  /**
   * Begins.
   *
   * @param place where the column of a step goes, in bytes from the piece's first
   */
  private Transpose(Assembler a, IntUnaryOperator place) {
    this.a = a;
    this.place = place;
  }

  /** A panel's values. */
  static Function values() {
    return Function.avx2(a -> new Transpose(a, step -> 128 * step).write());
  }

  /** One constant of each of eight chunks; for halves, both constants of each of four. */
  static Function constants(Product product) {
    int chunk = product.panelChunk();
    IntUnaryOperator place =
        product.runs() == 2
            ? step -> step / 2 * chunk + step % 2 * product.secondHalf()
            : step -> step * chunk;
    return Function.avx2(a -> new Transpose(a, place).write());
  }

  private void write() {
    a.push(RBX);
    // Row 4i is at base i, rows 4i+1 to 4i+3 after it.
    Gpr[] bases = {RSI, R11, RAX, RBX};
    a.lea(R10, at(RDX, RDX, 2));
    a.lea(R11, at(RSI, RDX, 4));
    a.lea(RAX, at(RSI, RDX, 8));
    a.lea(RBX, at(R11, RDX, 8));
    Label piece = a.loop();
    for (int eight = 0; eight < 2; eight++) {
      for (int part = 0; part < 2; part++) {
        for (int i = 0; i < 4; i++) {
          a.op(VMOVUPS, xmm(i), row(bases[2 * eight], i, 16 * part));
          a.op(VINSERTI128, ymm(i), ymm(i), row(bases[2 * eight + 1], i, 16 * part), 1);
        }
        quad();
        for (int i = 0; i < 4; i++) {
          a.op(VMOVUPS_STORE, column(4 * part + i, eight), ymm(i));
        }
      }
    }
    for (Gpr base : bases) {
      a.add(base, R9);
    }
    a.add(RDI, R8);
    a.sub(RCX, 1);
    a.jump(Condition.NOT_EQUAL, piece);
    a.pop(RBX);
  }

  private Mem column(int step, int eight) {
    return at(RDI, place.applyAsInt(step) + 32 * eight);
  }

  private static Mem row(Gpr base, int i, int offset) {
    return switch (i) {
      case 0 -> at(base, offset);
      case 1 -> at(base, RDX, 1, offset);
      case 2 -> at(base, RDX, 2, offset);
      default -> at(base, R10, 1, offset);
    };
  }

  /** Turns 4 × 4 values within every 16 bytes of the first four registers. */
  private void quad() {
    for (int pair = 0; pair < 2; pair++) {
      a.op(VPUNPCKLDQ, ymm(4 + 2 * pair), ymm(2 * pair), ymm(2 * pair + 1));
      a.op(VPUNPCKHDQ, ymm(5 + 2 * pair), ymm(2 * pair), ymm(2 * pair + 1));
    }
    for (int half = 0; half < 2; half++) {
      a.op(VPUNPCKLQDQ, ymm(2 * half), ymm(4 + half), ymm(6 + half));
      a.op(VPUNPCKHQDQ, ymm(2 * half + 1), ymm(4 + half), ymm(6 + half));
    }
  }
}

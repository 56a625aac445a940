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
import static io.steelyard.kernels.assembler.Mask.K1;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VCVTPS2PH;
import static io.steelyard.kernels.assembler.Op.VMOVSS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VPEXTRW_STORE;
import static io.steelyard.kernels.assembler.Vec.xmm;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.machine.Function;

/**
 * Writes one token's keys or values, float32, to its place in the panels of a KV cache.
 *
 * <p>Arguments of its functions: the values of all heads, one after the other; where those of the
 * first head go; values of a head, at least 1; heads, at least 1; bytes from one head's panels to
 * the next's; and for values the bytes from one run of 32 to the next.
 */
final class CacheStore {
  private CacheStore() {}

  /** A head's key becomes one of 32 columns of its panel. */
  static Function key(boolean half) {
    return Function.of(a -> heads(a, () -> column(a, half)));
  }

  /** A head's values become rows of 32. */
  static Function value(boolean half) {
    return Function.of(
        a -> {
          a.push(RBX);
          heads(a, () -> runs(a, half));
          a.pop(RBX);
        });
  }

  /** A loop over heads: RDI goes on by itself, R10 is the head's place, R11 counts its values. */
  private static void heads(Assembler a, Runnable head) {
    Label next = a.loop();
    a.mov(R10, RSI);
    a.mov(R11, RDX);
    head.run();
    a.add(RSI, R8);
    a.sub(RCX, 1);
    a.jump(Condition.NOT_EQUAL, next);
  }

  private static void column(Assembler a, boolean half) {
    Label next = a.loop();
    if (half) {
      a.op(VMOVSS, xmm(0), at(RDI));
      a.op(VCVTPS2PH, xmm(0), xmm(0), 0);
      a.op(VPEXTRW_STORE, at(R10), xmm(0), 0);
    } else {
      a.mov32(RAX, at(RDI));
      a.mov32(at(R10), RAX);
    }
    a.add(RDI, Float.BYTES);
    a.add(R10, Product.ROWS * (half ? 2 : 4));
    a.sub(R11, 1);
    a.jump(Condition.NOT_EQUAL, next);
  }

  private static void runs(Assembler a, boolean half) {
    Label next = a.loop();
    Label end = new Label();
    for (int part = 0; part < 2; part++) {
      Label whole = new Label();
      a.mov(RAX, 16);
      a.cmp(R11, 16);
      a.jump(Condition.NOT_LESS, whole);
      a.mov(RAX, R11);
      a.place(whole);
      a.add(R11, -16);
      Snippets.first(a, K1, RAX, RBX);
      a.zero(K1).op(VMOVUPS, zmm(0), at(RDI));
      if (half) {
        a.merge(K1).op(VCVTPS2PH, at(R10, 32 * part), zmm(0), 0);
      } else {
        a.merge(K1).op(VMOVUPS_STORE, at(R10, 64 * part), zmm(0));
      }
      a.lea(RDI, at(RDI, RAX, 4));
      a.cmp(R11, 0);
      a.jump(Condition.NOT_GREATER, end);
    }
    a.add(R10, R9);
    a.jmp(next);
    a.place(end);
  }
}

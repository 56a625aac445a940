package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R12;
import static io.steelyard.kernels.assembler.Gpr.R14;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Mask.K3;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VPMOVZXWD;
import static io.steelyard.kernels.assembler.Op.VPSLLD_IMM;
import static io.steelyard.kernels.assembler.Vec.zmm;
import static io.steelyard.kernels.avx512.FewTokens.ROWS;
import static io.steelyard.kernels.avx512.FewTokens.SCRATCH;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.EightBitFloats;
import io.steelyard.kernels.avx2.Snippets;
import java.util.Optional;

/** {@link FewTokens} of types without blocks: 32 values of each row at a time, a line or two. */
final class FewFloats implements FewTokens.Body {
  private final Assembler a;
  private final FewTokens of;
  private final DataType type;

  /** The bits that {@link EightBitFloats} keep. */
  private final Optional<Mem> kept;

  FewFloats(Assembler a, FewTokens of, DataType type) {
    this.a = a;
    this.of = of;
    this.type = type;
    kept =
        EightBitFloats.has(type)
            ? Optional.of(of.lanes(lane -> EightBitFloats.KEPT_BITS))
            : Optional.empty();
  }

  @Override
  public void group() {
    Label rest = new Label();
    Label last = new Label();
    Label end = new Label();
    a.mov(RAX, RBP);
    a.and(RAX, 15);
    a.sub(RBP, 32);
    a.jump(Condition.LESS, rest);
    Label step = a.loop();
    of.prefetch(32 * type.blockBytes());
    step(0, false);
    step(16, false);
    a.add(R12, 32 * type.blockBytes());
    a.add(RBX, 32 * Float.BYTES);
    a.sub(RBP, 32);
    a.jump(Condition.NOT_LESS, step);
    a.place(rest);
    a.add(RBP, 16);
    a.jump(Condition.LESS, last);
    step(0, false);
    a.add(R12, 16 * type.blockBytes());
    a.add(RBX, 16 * Float.BYTES);
    a.place(last);
    a.test(RAX, RAX);
    a.jump(Condition.EQUAL, end);
    Snippets.first(a, K3, RAX, R14);
    step(0, true);
    a.place(end);
  }

  private Assembler lanes(boolean some) {
    return some ? a.zero(K3) : a;
  }

  /** Multiplies 16 values, or some, from so many values on. */
  private void step(int first, boolean some) {
    for (int row = 0; row < ROWS; row++) {
      Vec weights = zmm(20 + row);
      Mem from = of.row(row, first * type.blockBytes());
      switch (type) {
        case F32 -> lanes(some).op(VMOVUPS, weights, from);
        case F16 -> lanes(some).op(VCVTPH2PS, weights, from);
        case FP8_E4M3, FP8_E5M2 -> {
          Vec bits = of.held(kept.orElseThrow(), SCRATCH);
          EightBitFloats.loadWide(lanes(some), type, weights, from, bits);
        }
        default -> {
          lanes(some).op(VPMOVZXWD, weights, from);
          a.op(VPSLLD_IMM, weights, weights, 16);
        }
      }
    }
    for (int token = 0; token < of.tokens(); token++) {
      lanes(some).op(VMOVUPS, zmm(24), of.activations(token, first * Float.BYTES));
      for (int row = 0; row < ROWS; row++) {
        a.op(VFMADD231PS, of.sum(token, row), zmm(20 + row), zmm(24));
      }
    }
  }
}

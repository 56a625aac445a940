package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPH2PS;
import static io.steelyard.kernels.assembler.Op.VFMADD213PS;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VINSERTI64X4;
import static io.steelyard.kernels.assembler.Op.VMOVDQU32;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPBROADCASTW;
import static io.steelyard.kernels.assembler.Op.VPDPBUSD;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPERMW;
import static io.steelyard.kernels.assembler.Op.VPXORD;
import static io.steelyard.kernels.assembler.Vec.zmm;
import static io.steelyard.kernels.avx512.FewTokens.PRODUCT;
import static io.steelyard.kernels.avx512.FewTokens.ROWS;
import static io.steelyard.kernels.avx512.FewTokens.SCRATCH;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.Snippets;

/** {@link FewTokens} of Q8_0: two blocks of a row at a time. */
final class FewBytes implements FewTokens.Body {
  private static final int BLOCK_BYTES = DataType.Q8_0.blockBytes();

  /** The 2-byte word of the second block's scale, for eight lanes. */
  private static final long SECOND = BLOCK_BYTES / 2 * 0x0001_0001_0001_0001L;

  private final Assembler a;
  private final FewTokens of;
  private final Mem ofBoth;
  private final Mem both;
  private final Mem sumOfQuarter;
  private final Mem bits;
  private final Mem excess;

  FewBytes(Assembler a, FewTokens of) {
    this.a = a;
    this.of = of;
    // Float16 at bytes 0 and 34.
    ofBoth = of.longs(0, 0, SECOND, SECOND, 0, 0, 0, 0);
    both = of.lanes(i -> i / 8);
    sumOfQuarter = of.lanes(i -> i / 4);
    bits = of.bytesOf(0x80);
    excess = of.floatsOf(-128 / 4f);
  }

  @Override
  public void group() {
    Label rest = new Label();
    Label end = new Label();
    a.sub(RBP, 2);
    a.jump(Condition.LESS, rest);
    Label step = a.loop();
    of.prefetch(2 * BLOCK_BYTES);
    for (int row = 0; row < ROWS; row++) {
      a.op(VMOVDQU32, zmm(16 + row).as(32), of.row(row, 2));
      a.op(VINSERTI64X4, zmm(16 + row), zmm(16 + row), of.row(row, BLOCK_BYTES + 2), 1);
      a.op(VPERMW, zmm(20 + row), of.held(ofBoth, SCRATCH), of.row(row, 0));
      a.op(VCVTPH2PS, zmm(20 + row), zmm(20 + row).as(32));
    }
    step();
    of.advance(2 * BLOCK_BYTES, 2);
    a.sub(RBP, 2);
    a.jump(Condition.NOT_LESS, step);
    a.place(rest);
    a.add(RBP, 2);
    a.jump(Condition.EQUAL, end);
    for (int row = 0; row < ROWS; row++) {
      a.op(VMOVDQU32, zmm(16 + row).as(32), of.row(row, 2));
      // The other block has the scale 0.
      a.op(VPBROADCASTW, zmm(20 + row).as(16), of.row(row, 0));
      a.op(VCVTPH2PS, zmm(20 + row).as(32), zmm(20 + row).as(16));
    }
    step();
    a.place(end);
  }

  private void step() {
    Vec scale = zmm(26);
    Vec tooMuch = zmm(27);
    for (int row = 0; row < ROWS; row++) {
      a.op(VPXORD, zmm(16 + row), zmm(16 + row), of.held(bits, SCRATCH));
    }
    for (int token = 0; token < of.tokens(); token++) {
      a.op(VPERMPS, scale, of.held(both, scale), of.scales(token));
      a.op(VPERMPS, tooMuch, of.held(sumOfQuarter, tooMuch), of.sums(token));
      a.op(VMULPS, tooMuch, tooMuch, of.held(excess, SCRATCH));
      for (int row = 0; row < ROWS; row++) {
        Snippets.clear(a, PRODUCT);
        a.op(VPDPBUSD, PRODUCT, zmm(16 + row), of.activations(token, 0));
        a.op(VCVTDQ2PS, PRODUCT, PRODUCT);
        a.op(VFMADD213PS, PRODUCT, scale, tooMuch);
        a.op(VFMADD231PS, of.sum(token, row), zmm(20 + row), PRODUCT);
      }
    }
  }
}

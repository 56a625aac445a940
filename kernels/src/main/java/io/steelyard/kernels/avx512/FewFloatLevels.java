package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.R12;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Op.VFMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPERMPS;
import static io.steelyard.kernels.assembler.Op.VPSRLVD;
import static io.steelyard.kernels.assembler.Vec.zmm;
import static io.steelyard.kernels.avx512.FewTokens.ROWS;
import static io.steelyard.kernels.avx512.FewTokens.SCRATCH;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.avx2.FloatLevels;

/**
 * {@link FewTokens} of {@link FloatLevels}: a block of each row at a time, whose levels are those
 * of the type times its scale, in a register. Activations are float32.
 */
final class FewFloatLevels implements FewTokens.Body {
  private static final int LANES = 16;

  private final Assembler a;
  private final FewTokens of;
  private final DataType type;

  private final Mem shifts;
  private final Mem table;

  /** For each 16 of a block's values, which of its words have their nibbles. */
  private final Mem[] words;

  FewFloatLevels(Assembler a, FewTokens of, DataType type) {
    this.a = a;
    this.of = of;
    this.type = type;
    shifts = of.lanes(FloatLevels::shift);
    float[] levels = FloatLevels.of(type);
    table = of.lanes(i -> Float.floatToRawIntBits(levels[i]));
    words = new Mem[type.blockSize() / LANES];
    for (int i = 0; i < words.length; i++) {
      int first = 2 * i;
      words[i] = of.lanes(lane -> first + lane / 8);
    }
  }

  private static Vec levels(int row) {
    return zmm(16 + row);
  }

  private static Vec weights(int row) {
    return zmm(20 + row);
  }

  private static Vec nibbles(int row) {
    return zmm(25 + row);
  }

  @Override
  public void group() {
    Label block = a.loop();
    of.prefetch(type.blockBytes());
    Vec activations = zmm(24);
    for (int row = 0; row < ROWS; row++) {
      a.op(VMOVUPS, nibbles(row).as(32), of.row(row, Float.BYTES));
      a.broadcast(VMULPS, levels(row), of.held(table, SCRATCH), of.row(row, 0));
    }
    for (int part = 0; part < words.length; part++) {
      for (int row = 0; row < ROWS; row++) {
        a.op(VPERMPS, weights(row), of.held(words[part], SCRATCH), nibbles(row));
        a.op(VPSRLVD, weights(row), weights(row), of.held(shifts, SCRATCH));
        a.op(VPERMPS, weights(row), weights(row), levels(row));
      }
      for (int token = 0; token < of.tokens(); token++) {
        a.op(VMOVUPS, activations, of.activations(token, part * LANES * Float.BYTES));
        for (int row = 0; row < ROWS; row++) {
          a.op(VFMADD231PS, of.sum(token, row), weights(row), activations);
        }
      }
    }
    a.add(R12, type.blockBytes());
    a.add(RBX, type.blockSize() * Float.BYTES);
    a.sub(RBP, 1);
    a.jump(Condition.NOT_EQUAL, block);
  }
}

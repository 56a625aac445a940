package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VPORD;
import static io.steelyard.kernels.assembler.Op.VPXORD;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.machine.Function;

/** Loops of nothing but one instruction, to learn how fast it can be at best. */
public enum Peak {
  /** Products of bytes, added as int32. */
  VPDPBUSD("int8", Op.VPDPBUSD, 64),
  /** Products of bf16 pairs, added as float32. */
  VDPBF16PS("bf16", Op.VDPBF16PS, 32),
  /** Float32 products and sums. */
  VFMADD231PS("f32", Op.VFMADD231PS, 16);

  /** Bytes that the reading loop takes at a time. */
  public static final int READ_STEP = 512;

  private static final int SUMS = 24;

  private final String label;
  private final Op op;
  private final int products;

  Peak(String label, Op op, int products) {
    this.label = label;
    this.op = op;
    this.products = products;
  }

  /** What it multiplies. */
  public String label() {
    return label;
  }

  /** Multiplications of one turn of the loop. */
  public long productsOfTurn() {
    return (long) SUMS * products;
  }

  /** The loop. Argument: turns, at least 1. */
  public Function function() {
    return Function.of(
        a -> {
          for (int i = 0; i < 32; i++) {
            a.op(VPXORD, zmm(i), zmm(i), zmm(i));
          }
          Label turn = a.loop();
          for (int i = 0; i < SUMS; i++) {
            a.op(op, zmm(i), zmm(30), zmm(31));
          }
          a.sub(RDI, 1);
          a.jump(Condition.NOT_EQUAL, turn);
        });
  }

  /** Reads memory in order. Arguments: address; bytes, a multiple of {@link #READ_STEP}. */
  public static Function read() {
    return Function.of(Peak::writeRead);
  }

  private static void writeRead(Assembler a) {
    for (int i = 0; i < 8; i++) {
      a.op(VPXORD, zmm(i), zmm(i), zmm(i));
    }
    Label turn = a.loop();
    for (int i = 0; i < 8; i++) {
      a.op(VPORD, zmm(i), zmm(i), at(RDI, 64 * i));
    }
    a.add(RDI, READ_STEP);
    a.sub(RSI, READ_STEP);
    a.jump(Condition.NOT_EQUAL, turn);
  }
}

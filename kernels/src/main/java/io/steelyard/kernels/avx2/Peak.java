package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VPADDW;
import static io.steelyard.kernels.assembler.Op.VPOR;
import static io.steelyard.kernels.assembler.Op.VPORD;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.assembler.Vec;
import io.steelyard.kernels.machine.Function;

/** Loops of nothing but the instructions of a product, to learn how fast they can be at best. */
public enum Peak {
  /** Products of bytes, added as int32. */
  VPDPBUSD("int8", Op.VPDPBUSD, 4),
  /** The same in AVX2: products of bytes, then added as int16, which small ones allow. */
  VPMADDUBSW("int8", Op.VPMADDUBSW, 4),
  /** Products of bf16 pairs, added as float32. */
  VDPBF16PS("bf16", Op.VDPBF16PS, 2),
  /** Float32 products and sums. */
  VFMADD231PS("f32", Op.VFMADD231PS, 1);

  /** Bytes that the reading loop takes at a time. */
  public static final int READ_STEP = 512;

  /** How far ahead it asks for memory, into the second-level cache. */
  private static final int READ_AHEAD = 8192;

  /** Sums of one turn: more than the instruction takes cycles, and few enough for AVX2. */
  private static final int SUMS = 12;

  private final String label;
  private final Op op;

  /** Products that are added to a 32-bit sum. */
  private final int products;

  Peak(String label, Op op, int products) {
    this.label = label;
    this.op = op;
    this.products = products;
  }

  /** Whether processors with vectors of so many bytes, and no more, multiply like this. */
  public boolean runsIn(int bytes) {
    return this == VFMADD231PS || (this == VPMADDUBSW) == (bytes == 32);
  }

  /** What it multiplies. */
  public String label() {
    return label;
  }

  /** Multiplications of one turn of the loop, with vectors of so many bytes. */
  public long productsOfTurn(int bytes) {
    return (long) SUMS * products * bytes / Float.BYTES;
  }

  /**
   * The loop. Argument: turns, at least 1.
   *
   * @param bytes of a vector: 32 or 64, as it {@link #runsIn}
   */
  public Function function(int bytes) {
    return Function.of(
        a -> {
          for (int i = 0; i < 16; i++) {
            Snippets.clear(a, new Vec(i, bytes));
          }
          Label turn = a.loop();
          for (int i = 0; i < SUMS; i++) {
            boolean apart = this == VPMADDUBSW;
            Vec product = new Vec(apart ? 12 + i % 2 : i, bytes);
            a.op(op, product, new Vec(14, bytes), new Vec(15, bytes));
            if (apart) {
              a.op(VPADDW, new Vec(i, bytes), new Vec(i, bytes), product);
            }
          }
          a.sub(RDI, 1);
          a.jump(Condition.NOT_EQUAL, turn);
        });
  }

  /**
   * Reads memory in order. Arguments: address; bytes, a multiple of {@link #READ_STEP}.
   *
   * @param bytes of a vector
   */
  public static Function read(int bytes) {
    return Function.of(a -> writeRead(a, bytes));
  }

  private static void writeRead(Assembler a, int bytes) {
    int vectors = READ_STEP / bytes;
    for (int i = 0; i < vectors; i++) {
      Snippets.clear(a, new Vec(i, bytes));
    }
    Label turn = a.loop();
    for (int line = 0; line < READ_STEP; line += 64) {
      a.prefetcht1(at(RDI, READ_AHEAD + line));
    }
    for (int i = 0; i < vectors; i++) {
      Vec sum = new Vec(i, bytes);
      a.op(bytes == 64 ? VPORD : VPOR, sum, sum, at(RDI, bytes * i));
    }
    a.add(RDI, READ_STEP);
    a.sub(RSI, READ_STEP);
    a.jump(Condition.NOT_EQUAL, turn);
  }
}

package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RSP;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VCVTDQ2PS;
import static io.steelyard.kernels.assembler.Op.VCVTPS2DQ;
import static io.steelyard.kernels.assembler.Op.VFMADD213PS;
import static io.steelyard.kernels.assembler.Op.VFNMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMAXPS;
import static io.steelyard.kernels.assembler.Op.VMINPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VPADDD;
import static io.steelyard.kernels.assembler.Op.VPSLLD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSRAD_IMM;
import static io.steelyard.kernels.assembler.Op.VPSUBD;
import static io.steelyard.kernels.assembler.Op.VSCALEFPS;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Mem;
import io.steelyard.kernels.assembler.Vec;

/**
 * e^x in every lane: 2^n times a polynomial in what is left, with a relative error below 2e-7; 0
 * below -104, infinity above 89. Its constants lie on the stack, so that it needs few registers.
 */
public final class Exponential {
  /** Of so few bits that its product with n is exact. */
  private static final float LN2_IN_FEW_BITS = 355f / 512;

  /** 1/7! to 1/2!; 1 and 1 follow. */
  private static final float[] TERMS = {1 / 5040f, 1 / 720f, 1 / 120f, 1 / 24f, 1 / 6f, 1 / 2f, 1};

  private static final int LOWEST = TERMS.length;
  private static final int HIGHEST = LOWEST + 1;
  private static final int LOG2_E = LOWEST + 2;
  private static final int LN2_HIGH = LOWEST + 3;
  private static final int LN2_LOW = LOWEST + 4;
  private static final int EXPONENT_OF_ONE = LOWEST + 5;
  private static final int LOWEST_NORMAL = LOWEST + 6;
  private static final int CONSTANTS = LOWEST + 7;

  private final Assembler a;
  private final int bytes;

  private Exponential(Assembler a, int bytes) {
    this.a = a;
    this.bytes = bytes;
  }

  /**
   * Puts the constants on the stack, until {@link #end}; RBP is taken.
   *
   * @param bytes of a vector: 32 or 64
   * @param vector overwritten
   */
  public static Exponential begin(Assembler a, int bytes, Gpr scratch, int vector) {
    Exponential exponential = new Exponential(a, bytes);
    a.push(RBP);
    a.mov(RBP, RSP);
    a.sub(RSP, CONSTANTS * bytes);
    a.and(RSP, -64);
    for (int i = 0; i < TERMS.length; i++) {
      exponential.put(i, Float.floatToRawIntBits(TERMS[i]), scratch, vector);
    }
    float[] others = {
      -104f,
      100f,
      (float) (1 / Math.log(2)),
      LN2_IN_FEW_BITS,
      (float) (Math.log(2) - LN2_IN_FEW_BITS)
    };
    for (int i = 0; i < others.length; i++) {
      exponential.put(LOWEST + i, Float.floatToRawIntBits(others[i]), scratch, vector);
    }
    exponential.put(EXPONENT_OF_ONE, 127, scratch, vector);
    exponential.put(LOWEST_NORMAL, Float.floatToRawIntBits(-86.5f), scratch, vector);
    return exponential;
  }

  private void put(int place, int bits, Gpr scratch, int vector) {
    Vec constant = new Vec(vector, bytes);
    Snippets.constant(a, constant, bits, scratch);
    a.op(VMOVUPS_STORE, constant(place), constant);
  }

  private Mem constant(int place) {
    return at(RSP, place * bytes);
  }

  /** Where 1 lies, in all lanes. */
  public Mem one() {
    return constant(TERMS.length - 1);
  }

  /** Gives the stack back. */
  public void end() {
    a.mov(RSP, RBP);
    a.pop(RBP);
  }

  /** {@code x = e^x}; three registers are overwritten. */
  public void apply(Vec x, Vec n, Vec sum, Vec half) {
    a.op(VMAXPS, x, x, constant(LOWEST));
    a.op(VMINPS, x, x, constant(HIGHEST));
    parts(x, n, sum);
    if (bytes == 64) {
      scale(x, n, sum);
      return;
    }
    // 2^n in two steps, since n may be beyond the exponents that there are.
    a.op(VPSRAD_IMM, half, n, 1);
    a.op(VPSUBD, n, n, half);
    power(half);
    power(n);
    a.op(VMULPS, sum, sum, half);
    a.op(VMULPS, x, sum, n);
  }

  /**
   * The same of what is 0 or less, with two registers, and without numbers that are smaller than
   * normal ones: what would be is {@code e^-86.5}, or about that.
   */
  public void applyToNegative(Vec x, Vec n, Vec sum) {
    a.op(VMAXPS, x, x, constant(LOWEST_NORMAL));
    parts(x, n, sum);
    if (bytes == 64) {
      scale(x, n, sum);
      return;
    }
    a.op(VPSLLD_IMM, n, n, 23);
    a.op(VPADDD, x, sum, n);
  }

  /** {@code e^x = sum · 2^n}, n as int32; x is overwritten. */
  private void parts(Vec x, Vec n, Vec sum) {
    a.op(VMULPS, n, x, constant(LOG2_E));
    a.op(VCVTPS2DQ, n, n);
    a.op(VCVTDQ2PS, sum, n);
    a.op(VFNMADD231PS, x, sum, constant(LN2_HIGH));
    a.op(VFNMADD231PS, x, sum, constant(LN2_LOW));
    a.op(VMOVUPS, sum, constant(0));
    for (int i = 1; i < TERMS.length; i++) {
      a.op(VFMADD213PS, sum, x, constant(i));
    }
    a.op(VFMADD213PS, sum, x, one());
  }

  private void scale(Vec x, Vec n, Vec sum) {
    a.op(VCVTDQ2PS, n, n);
    a.op(VSCALEFPS, x, sum, n);
  }

  private void power(Vec n) {
    a.op(VPADDD, n, n, constant(EXPONENT_OF_ONE));
    a.op(VPSLLD_IMM, n, n, 23);
  }
}

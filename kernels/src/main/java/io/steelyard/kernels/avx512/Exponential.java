package io.steelyard.kernels.avx512;

import static io.steelyard.kernels.assembler.Op.VFMADD213PS;
import static io.steelyard.kernels.assembler.Op.VFNMADD231PS;
import static io.steelyard.kernels.assembler.Op.VMAXPS;
import static io.steelyard.kernels.assembler.Op.VMINPS;
import static io.steelyard.kernels.assembler.Op.VMOVUPS;
import static io.steelyard.kernels.assembler.Op.VMULPS;
import static io.steelyard.kernels.assembler.Op.VRNDSCALEPS;
import static io.steelyard.kernels.assembler.Op.VSCALEFPS;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Vec;

/**
 * e^x in every lane: 2^n times a polynomial in what is left, with a relative error below 2e-7; 0
 * below -104, infinity above 89.
 */
final class Exponential {
  private static final Vec ONE = zmm(31);
  private static final Vec LOWEST = zmm(30);
  private static final Vec HIGHEST = zmm(29);
  private static final Vec LOG2_E = zmm(28);
  private static final Vec LN2_HIGH = zmm(27);
  private static final Vec LN2_LOW = zmm(26);

  /** Of so few bits that its product with n is exact. */
  private static final float LN2_IN_FEW_BITS = 355f / 512;

  private static final int FIRST_TERM = 20;

  /** 1/7! to 1/2!; 1 and 1 follow. */
  private static final float[] TERMS = {1 / 5040f, 1 / 720f, 1 / 120f, 1 / 24f, 1 / 6f, 1 / 2f};

  private Exponential() {}

  /** Fills registers 20 to 31, which must be left alone; 31 holds 1. */
  static void constants(Assembler a, Gpr scratch) {
    Snippets.constant(a, ONE, 1f, scratch);
    Snippets.constant(a, LOWEST, -104f, scratch);
    Snippets.constant(a, HIGHEST, 100f, scratch);
    Snippets.constant(a, LOG2_E, (float) (1 / Math.log(2)), scratch);
    Snippets.constant(a, LN2_HIGH, LN2_IN_FEW_BITS, scratch);
    Snippets.constant(a, LN2_LOW, (float) (Math.log(2) - LN2_IN_FEW_BITS), scratch);
    for (int i = 0; i < TERMS.length; i++) {
      Snippets.constant(a, zmm(FIRST_TERM + i), TERMS[i], scratch);
    }
  }

  /** {@code x = e^x}; two registers are overwritten. */
  static void apply(Assembler a, Vec x, Vec n, Vec sum) {
    a.op(VMAXPS, x, x, LOWEST);
    a.op(VMINPS, x, x, HIGHEST);
    a.op(VMULPS, n, x, LOG2_E);
    a.op(VRNDSCALEPS, n, n, 0);
    a.op(VFNMADD231PS, x, n, LN2_HIGH);
    a.op(VFNMADD231PS, x, n, LN2_LOW);
    a.op(VMOVUPS, sum, zmm(FIRST_TERM));
    for (int i = 1; i < TERMS.length; i++) {
      a.op(VFMADD213PS, sum, x, zmm(FIRST_TERM + i));
    }
    a.op(VFMADD213PS, sum, x, ONE);
    a.op(VFMADD213PS, sum, x, ONE);
    a.op(VSCALEFPS, x, sum, n);
  }
}

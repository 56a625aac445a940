package io.steelyard.kernels.amx;

import static io.steelyard.kernels.assembler.Op.VCVTNE2PS2BF16;
import static io.steelyard.kernels.assembler.Op.VMOVUPS_STORE;
import static io.steelyard.kernels.assembler.Op.VPMOVZXWD;
import static io.steelyard.kernels.assembler.Op.VPSLLD_IMM;
import static io.steelyard.kernels.assembler.Op.VSUBPS;
import static io.steelyard.kernels.assembler.Vec.zmm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Mem;

/** Float32 as the sum of two bf16. */
final class Split {
  private Split() {}

  /** Stores the 32 values of registers 0 and 1; overwrites registers 0 to 3. */
  static void store(Assembler a, Mem high, Mem low) {
    a.op(VCVTNE2PS2BF16, zmm(2), zmm(1), zmm(0));
    a.op(VMOVUPS_STORE, high, zmm(2));
    for (int i = 0; i < 2; i++) {
      a.op(VPMOVZXWD, zmm(3), high.plus(32 * i));
      a.op(VPSLLD_IMM, zmm(3), zmm(3), 16);
      a.op(VSUBPS, zmm(i), zmm(i), zmm(3));
    }
    a.op(VCVTNE2PS2BF16, zmm(0), zmm(1), zmm(0));
    a.op(VMOVUPS_STORE, low, zmm(0));
  }
}

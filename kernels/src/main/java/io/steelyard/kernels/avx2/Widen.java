package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;
import static io.steelyard.kernels.assembler.Op.VMOVDQU_STORE;
import static io.steelyard.kernels.assembler.Op.VPMOVSXBW;
import static io.steelyard.kernels.assembler.Vec.ymm;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.machine.Function;

/**
 * Turns signed bytes, as {@link Unpack} wrote them, into words.
 *
 * <p>Arguments of its function: the bytes; where the words go; runs of 32, at least 1.
 */
final class Widen {
  private Widen() {}

  static Function function() {
    return Function.avx2(Widen::write);
  }

  private static void write(Assembler a) {
    Label run = a.loop();
    for (int half = 0; half < 2; half++) {
      a.op(VPMOVSXBW, ymm(half), at(RDI, 16 * half));
      a.op(VMOVDQU_STORE, at(RSI, 32 * half), ymm(half));
    }
    a.add(RDI, 32);
    a.add(RSI, 64);
    a.sub(RDX, 1);
    a.jump(Condition.NOT_EQUAL, run);
  }
}

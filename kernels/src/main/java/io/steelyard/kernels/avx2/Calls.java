package io.steelyard.kernels.avx2;

import static io.steelyard.kernels.assembler.Gpr.R12;
import static io.steelyard.kernels.assembler.Gpr.R8;
import static io.steelyard.kernels.assembler.Gpr.R9;
import static io.steelyard.kernels.assembler.Gpr.RAX;
import static io.steelyard.kernels.assembler.Gpr.RBP;
import static io.steelyard.kernels.assembler.Gpr.RBX;
import static io.steelyard.kernels.assembler.Gpr.RCX;
import static io.steelyard.kernels.assembler.Gpr.RDI;
import static io.steelyard.kernels.assembler.Gpr.RDX;
import static io.steelyard.kernels.assembler.Gpr.RSI;
import static io.steelyard.kernels.assembler.Mem.at;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Condition;
import io.steelyard.kernels.assembler.Gpr;
import io.steelyard.kernels.assembler.Label;
import io.steelyard.kernels.machine.Function;

/**
 * Makes calls that are listed in memory. Arguments: the list, where each call begins with seven
 * longs, its function's address and its arguments; how many there are, at least 1; bytes from one
 * to the next.
 */
final class Calls {
  private static final Gpr[] ARGUMENTS = {RDI, RSI, RDX, RCX, R8, R9};

  private Calls() {}

  static Function function() {
    return Function.avx2(Calls::write);
  }

  private static void write(Assembler a) {
    a.push(RBX);
    a.push(RBP);
    a.push(R12);
    a.mov(RBX, RDI);
    a.mov(RBP, RSI);
    a.mov(R12, RDX);
    Label call = a.loop();
    for (int i = 0; i < ARGUMENTS.length; i++) {
      a.mov(ARGUMENTS[i], at(RBX, Long.BYTES * (i + 1)));
    }
    a.mov(RAX, at(RBX));
    a.call(RAX);
    a.add(RBX, R12);
    a.sub(RBP, 1);
    a.jump(Condition.NOT_EQUAL, call);
    a.pop(R12);
    a.pop(RBP);
    a.pop(RBX);
  }
}

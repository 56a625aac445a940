package io.steelyard.kernels.machine;

import io.steelyard.kernels.emulated.Emulator;

/** A function that an emulator runs, whatever this processor has. */
public final class EmulatedFunction extends Function {
  /** A function's code, called in this way. */
  public EmulatedFunction(Function same) {
    super(same);
  }

  @Override
  public long call(long a, long b, long c, long d, long e, long f) {
    return Emulator.call(address(), a, b, c, d, e, f);
  }
}

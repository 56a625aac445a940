package io.steelyard.kernels.avx2;

import io.steelyard.kernels.assembler.Assembler;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.machine.Function;
import java.util.function.Consumer;

/** Products of bytes added to sums of 32 bits, as far as the processor has them. */
public enum Dot {
  /** AVX2 alone: none, so that weights of bytes become float32. */
  NONE,
  /** AVX-VNNI. */
  VNNI,
  /** The same instruction as AVX-512 encodes it: for tests where there is no AVX-VNNI. */
  VNNI_OF_AVX512;

  Op op() {
    return this == VNNI ? Op.VPDPBUSD_VEX : Op.VPDPBUSD;
  }

  /** Assembles a function that may use it. */
  Function function(Consumer<Assembler> body) {
    return this == VNNI_OF_AVX512 ? Function.of(body) : Function.avx2(body);
  }
}

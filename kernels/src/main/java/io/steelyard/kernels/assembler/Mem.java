package io.steelyard.kernels.assembler;

import java.util.Optional;

/**
 * A place in memory: {@code base + index × scale + displacement}.
 *
 * @param index any register but RSP
 * @param scale 1, 2, 4 or 8
 */
public record Mem(Gpr base, Optional<Gpr> index, int scale, int displacement) {
  public Mem {
    if (Integer.bitCount(scale) != 1 || scale < 1 || scale > 8) {
      throw new IllegalArgumentException("no address has scale " + scale);
    }
    if (index.equals(Optional.of(Gpr.RSP))) {
      throw new IllegalArgumentException("RSP can't be an index");
    }
  }

  public static Mem at(Gpr base) {
    return at(base, 0);
  }

  public static Mem at(Gpr base, int displacement) {
    return new Mem(base, Optional.empty(), 1, displacement);
  }

  public static Mem at(Gpr base, Gpr index, int scale) {
    return at(base, index, scale, 0);
  }

  public static Mem at(Gpr base, Gpr index, int scale, int displacement) {
    return new Mem(base, Optional.of(index), scale, displacement);
  }

  /** A place so many bytes further on. */
  public Mem plus(int bytes) {
    return new Mem(base, index, scale, displacement + bytes);
  }
}

package io.steelyard.kernels.assembler;

/** A mask register; K0 can't select anything and is left out. */
public enum Mask {
  K1(1),
  K2(2),
  K3(3),
  K4(4),
  K5(5),
  K6(6),
  K7(7);

  private final int number;

  Mask(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}

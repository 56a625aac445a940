package io.steelyard.kernels.assembler;

/** An AMX tile register. */
public enum Tile {
  TMM0(0),
  TMM1(1),
  TMM2(2),
  TMM3(3),
  TMM4(4),
  TMM5(5),
  TMM6(6),
  TMM7(7);

  private final int number;

  Tile(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}

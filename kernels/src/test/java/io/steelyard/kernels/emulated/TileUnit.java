package io.steelyard.kernels.emulated;

import io.steelyard.kernels.assembler.Instruction.General;
import io.steelyard.kernels.assembler.Instruction.Place;

/**
 * Carries out AMX's instructions.
 *
 * <p>Source: Intel Software Developer's Manual, volume 1, chapter 18, and volume 2.
 */
final class TileUnit {
  private static final int TILES = 8;
  private static final int ROWS = 16;
  private static final int LANES = 16;

  private final Registers registers;
  private final int[][] tiles = new int[TILES][ROWS * LANES];
  private final int[] rows = new int[TILES];
  private final int[] lanes = new int[TILES];

  TileUnit(Registers registers) {
    this.registers = registers;
  }

  /** Whether tiles are configured; a function must release them. */
  boolean inUse() {
    for (int tile = 0; tile < TILES; tile++) {
      if (rows[tile] > 0) {
        return true;
      }
    }
    return false;
  }

  void run(General i) {
    switch (i.name()) {
      case LDTILECFG -> configure(registers.address(i.place().orElseThrow()));
      case TILERELEASE -> release();
      case TILEZERO -> tiles[configured(i.reg())] = new int[ROWS * LANES];
      case TILELOADD -> load(i);
      case TILESTORED -> store(i);
      case TDPBF16PS -> multiplyPairs(i);
      case TDPBUSD -> multiplyBytes(i);
      default -> throw new IllegalStateException("no tile instruction: " + i);
    }
  }

  private void configure(long address) {
    release();
    if (Memory.getByte(address) != 1) {
      throw new IllegalStateException("palette " + Memory.getByte(address) + " where 1 is needed");
    }
    for (int tile = 0; tile < TILES; tile++) {
      int bytes =
          Memory.getByte(address + 16 + 2L * tile) | Memory.getByte(address + 17 + 2L * tile) << 8;
      int count = Memory.getByte(address + 48 + tile);
      if (bytes > 4 * LANES || bytes % 4 > 0 || count > ROWS || (bytes == 0) != (count == 0)) {
        throw new IllegalStateException(
            "tile " + tile + " can't have " + count + " rows of " + bytes + " bytes");
      }
      rows[tile] = count;
      lanes[tile] = bytes / Integer.BYTES;
    }
  }

  private void release() {
    for (int tile = 0; tile < TILES; tile++) {
      tiles[tile] = new int[ROWS * LANES];
      rows[tile] = 0;
      lanes[tile] = 0;
    }
  }

  private int configured(int tile) {
    if (rows[tile] == 0) {
      throw new IllegalStateException("tile " + tile + " is used without a configuration");
    }
    return tile;
  }

  /** The index register of a tile's place is the distance of its rows. */
  private long address(General i, int row) {
    Place place = i.place().orElseThrow();
    long distance = registers.general[place.index()] * place.scale();
    return registers.general[place.base()] + place.displacement() + row * distance;
  }

  private void load(General i) {
    int tile = configured(i.reg());
    tiles[tile] = new int[ROWS * LANES];
    for (int row = 0; row < rows[tile]; row++) {
      long from = address(i, row);
      for (int lane = 0; lane < lanes[tile]; lane++) {
        tiles[tile][row * LANES + lane] = Memory.getInt(from + 4L * lane);
      }
    }
  }

  private void store(General i) {
    int tile = configured(i.reg());
    for (int row = 0; row < rows[tile]; row++) {
      long to = address(i, row);
      for (int lane = 0; lane < lanes[tile]; lane++) {
        Memory.putInt(to + 4L * lane, tiles[tile][row * LANES + lane]);
      }
    }
  }

  private void checkProduct(int to, int a, int b) {
    configured(to);
    if (rows[a] != rows[to] || lanes[b] != lanes[to] || lanes[a] != rows[b]) {
      throw new IllegalStateException("tiles " + a + " and " + b + " have no product in " + to);
    }
  }

  /** Products of the pairs' lower values are summed apart from those of their upper ones. */
  private void multiplyPairs(General i) {
    int[] to = tiles[i.reg()];
    int[] a = tiles[i.rm()];
    int[] b = tiles[i.second()];
    checkProduct(i.reg(), i.rm(), i.second());
    for (int row = 0; row < rows[i.reg()]; row++) {
      float[] low = new float[LANES];
      float[] high = new float[LANES];
      for (int k = 0; k < lanes[i.rm()]; k++) {
        int pair = a[row * LANES + k];
        for (int lane = 0; lane < lanes[i.reg()]; lane++) {
          int other = b[k * LANES + lane];
          low[lane] = BFloat16.fma(BFloat16.low(pair), BFloat16.low(other), low[lane]);
          high[lane] = BFloat16.fma(BFloat16.high(pair), BFloat16.high(other), high[lane]);
        }
      }
      for (int lane = 0; lane < lanes[i.reg()]; lane++) {
        int at = row * LANES + lane;
        float sum = BFloat16.add(low[lane], high[lane]);
        to[at] = Float.floatToRawIntBits(BFloat16.add(Float.intBitsToFloat(to[at]), sum));
      }
    }
  }

  private void multiplyBytes(General i) {
    int[] to = tiles[i.reg()];
    int[] a = tiles[i.rm()];
    int[] b = tiles[i.second()];
    checkProduct(i.reg(), i.rm(), i.second());
    for (int row = 0; row < rows[i.reg()]; row++) {
      for (int k = 0; k < lanes[i.rm()]; k++) {
        for (int lane = 0; lane < lanes[i.reg()]; lane++) {
          to[row * LANES + lane] +=
              Packed.unsignedBySigned(a[row * LANES + k], b[k * LANES + lane]);
        }
      }
    }
  }
}

package io.steelyard.kernels;

import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.MachineCode.Single;
import io.steelyard.kernels.machine.Product;
import java.lang.foreign.Arena;

/**
 * A layer's keys and values as panels of a {@link Product}.
 *
 * <p>Keys lie in groups of 32 positions: [head][group][value][32 positions], so that scores are a
 * product along a key's values. Values lie in runs of 32: [head][run][position][32 values], so that
 * weighted sums are a product along positions.
 */
final class MachineCache implements KeyValues {
  /** Positions of a group, and values of a run: the rows of a panel. */
  static final int GROUP = Product.ROWS;

  /** Positions or values that a product takes at a time. */
  static final int CHUNK = 8;

  private final Shape shape;
  private final int elementBytes;
  private final int positions;
  private final int keyValues;
  private final int runs;
  private final long keys;
  private final long values;
  private final long bytes;

  MachineCache(Arena arena, Shape shape) {
    this.shape = shape;
    elementBytes = shape.type().blockBytes();
    positions = roundUp(shape.capacity(), GROUP);
    keyValues = roundUp(shape.dimension(), CHUNK);
    runs = (shape.dimension() + GROUP - 1) / GROUP;
    long keyBytes = headKeyBytes() * shape.heads();
    bytes = keyBytes + headValueBytes() * shape.heads();
    keys = arena.allocate(bytes, Rows.ALIGNMENT).address();
    values = keys + keyBytes;
  }

  static int roundUp(int count, int unit) {
    return (count + unit - 1) / unit * unit;
  }

  private long headKeyBytes() {
    return (long) positions * keyValues * elementBytes;
  }

  private long runBytes() {
    return (long) positions * GROUP * elementBytes;
  }

  private long headValueBytes() {
    return runBytes() * runs;
  }

  /** The panel of the keys of a group of positions. */
  long keys(int head, int group) {
    return keys + head * headKeyBytes() + (long) group * GROUP * keyValues * elementBytes;
  }

  /** The panel of a run of values, from a position on. */
  long values(int head, int run, int position) {
    return values
        + head * headValueBytes()
        + run * runBytes()
        + (long) position * GROUP * elementBytes;
  }

  /** Values of a key, with those that fill up its last chunk. */
  int keyValues() {
    return keyValues;
  }

  /** Runs of values of a head. */
  int runs() {
    return runs;
  }

  Product product() {
    return isHalf() ? Product.F16 : Product.F32;
  }

  private boolean isHalf() {
    return shape.type() == DataType.F16;
  }

  Function storeKey(MachineCode code) {
    return code.single(isHalf() ? Single.STORE_KEY_F16 : Single.STORE_KEY_F32);
  }

  Function storeValue(MachineCode code) {
    return code.single(isHalf() ? Single.STORE_VALUE_F16 : Single.STORE_VALUE_F32);
  }

  /** Writes one position's key; the address is that of all heads' values. */
  void storeKey(Function store, int position, long key) {
    long place = keys(0, position / GROUP) + (long) position % GROUP * elementBytes;
    store.call(key, place, shape.dimension(), shape.heads(), headKeyBytes());
  }

  /** Writes one position's value. */
  void storeValue(Function store, int position, long value) {
    store.call(
        value,
        values(0, 0, position),
        shape.dimension(),
        shape.heads(),
        headValueBytes(),
        runBytes());
  }

  /**
   * Clears values of positions after the last one that are multiplied with it: what an earlier
   * sequence left there could be infinite.
   */
  void clearAfter(int position) {
    int end = Math.min(positions, roundUp(position + 1, CHUNK));
    for (int head = 0; head < shape.heads(); head++) {
      for (int run = 0; run < runs; run++) {
        long from = values(head, run, position + 1);
        RawMemory.clear(from, values(head, run, end) - from);
      }
    }
  }

  @Override
  public Shape shape() {
    return shape;
  }

  @Override
  public long bytes() {
    return bytes;
  }
}

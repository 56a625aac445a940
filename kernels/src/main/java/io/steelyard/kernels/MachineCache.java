package io.steelyard.kernels;

import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.MachineCode.Single;
import io.steelyard.kernels.machine.Product;
import io.steelyard.kernels.machine.SystemMemory;
import java.lang.foreign.Arena;

/**
 * A layer's keys and values as panels of a {@link Product}.
 *
 * <p>Keys lie in groups of 32 positions: [head][group][value][32 positions], so that scores are a
 * product along a key's values. Values lie in runs of 32: [head][run][position][32 values], so that
 * weighted sums are a product along positions. With q8_0 a group of keys ends with the scales of
 * each 32 values of all its positions, and a position of a run with its one scale, all float32; it
 * is widened before it is multiplied.
 */
final class MachineCache implements KeyValues {
  /** Positions of a group, and values of a run: the rows of a panel. */
  static final int GROUP = Product.ROWS;

  /** Positions or values that a product takes at a time. */
  static final int CHUNK = 8;

  private final Shape shape;
  private final int positions;
  private final int keyValues;
  private final int runs;
  private final long groupBytes;
  private final long rowBytes;
  private final long keys;
  private final long values;
  private final long bytes;

  MachineCache(Arena arena, Shape shape) {
    this.shape = shape;
    positions = roundUp(shape.capacity(), GROUP);
    keyValues = roundUp(shape.dimension(), CHUNK);
    runs = (shape.dimension() + GROUP - 1) / GROUP;
    groupBytes = GROUP * ((long) keyValues * elementBytes() + (isBytes() ? 4L * runs : 0));
    rowBytes = (long) GROUP * elementBytes() + (isBytes() ? Float.BYTES : 0);
    long keyBytes = headKeyBytes() * shape.heads();
    bytes = keyBytes + headValueBytes() * shape.heads();
    keys = SystemMemory.allocate(arena, bytes).address();
    values = keys + keyBytes;
  }

  static int roundUp(int count, int unit) {
    return (count + unit - 1) / unit * unit;
  }

  private int elementBytes() {
    return isBytes() ? 1 : shape.type().blockBytes();
  }

  private long headKeyBytes() {
    return positions / GROUP * groupBytes;
  }

  private long runBytes() {
    return positions * rowBytes;
  }

  private long headValueBytes() {
    return runBytes() * runs;
  }

  /** The panel of the keys of a group of positions. */
  long keys(int head, int group) {
    return keys + head * headKeyBytes() + group * groupBytes;
  }

  /** Where the scales of a group of keys begin; with q8_0 only. */
  private long keyScales(long keys) {
    return keys + (long) GROUP * keyValues;
  }

  /** The panel of a run of values, from a position on. */
  long values(int head, int run, int position) {
    return values + head * headValueBytes() + run * runBytes() + position * rowBytes;
  }

  /** Values of a key, with those that fill up its last chunk. */
  int keyValues() {
    return keyValues;
  }

  /** Runs of values of a head. */
  int runs() {
    return runs;
  }

  /** The product that takes the panels, or what they are widened to. */
  Product product() {
    return shape.type() == DataType.F16 ? Product.F16 : Product.F32;
  }

  /** Whether panels have to be widened before they are multiplied. */
  boolean isBytes() {
    return shape.type() == DataType.Q8_0;
  }

  /** Bytes that a panel of keys, or one of so many positions' values, takes when it is widened. */
  long widenedBytes(int positions) {
    return isBytes() ? 4L * GROUP * Math.max(keyValues, positions) : 0;
  }

  /** Widens the keys of a group. */
  void widenKeys(MachineCode code, int head, int group, long to) {
    long from = keys(head, group);
    code.single(Single.WIDEN_KEYS).call(from, to, keyScales(from), runs);
  }

  /** Widens a run's values of some positions. */
  void widenValues(MachineCode code, int head, int run, int position, int count, long to) {
    code.single(Single.WIDEN_VALUES).call(values(head, run, position), to, count, 0);
  }

  private Single storeKey() {
    return switch (shape.type()) {
      case F32 -> Single.STORE_KEY_F32;
      case F16 -> Single.STORE_KEY_F16;
      default -> Single.STORE_KEY_Q8_0;
    };
  }

  private Single storeValue() {
    return switch (shape.type()) {
      case F32 -> Single.STORE_VALUE_F32;
      case F16 -> Single.STORE_VALUE_F16;
      default -> Single.STORE_VALUE_Q8_0;
    };
  }

  /** Writes one position's key and value; the addresses are those of all heads' values. */
  void store(CallList calls, MachineCode code, int position, long key, long value) {
    long group = keys(0, position / GROUP);
    int inGroup = position % GROUP;
    calls.add(
        code.single(storeKey()),
        key,
        group + (long) inGroup * elementBytes(),
        shape.dimension(),
        shape.heads(),
        headKeyBytes(),
        keyScales(group) + 4L * inGroup);
    calls.add(
        code.single(storeValue()),
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
  public void copy(KeyValues from, int positions) {
    MachineCache other = (MachineCache) from;
    long keyBytes = roundUp(positions, GROUP) / GROUP * groupBytes;
    for (int head = 0; head < shape.heads(); head++) {
      RawMemory.copy(other.keys(head, 0), keys(head, 0), keyBytes);
      for (int run = 0; run < runs; run++) {
        RawMemory.copy(other.values(head, run, 0), values(head, run, 0), positions * rowBytes);
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

package io.steelyard.kernels;

import io.steelyard.kernels.codec.Encoder;
import io.steelyard.kernels.codec.TensorEncoder;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.SplittableRandom;

/** Operands to measure operators with: always the same random numbers. */
public final class RandomOperands {
  private static final long WEIGHTS_SEED = 2;
  private static final long ACTIVATIONS_SEED = 1;

  private static final Set<DataType> FLOATS =
      Set.of(DataType.F64, DataType.F32, DataType.F16, DataType.BF16);

  private RandomOperands() {}

  /**
   * Weights between −1 and 1; of whole numbers and types with blocks random bytes, with scales that
   * keep values finite. Random bytes as whole values would mostly be tiny, and some processors take
   * a hundred times as long for a subnormal result.
   */
  public static Tensor tensor(Arena arena, DataType type, int rows, int columns) {
    if (!type.isGgml() || type == DataType.NVFP4) {
      return encoded(arena, type, rows, columns);
    }
    MemorySegment data = arena.allocate(type.bytes(columns) * rows, Rows.ALIGNMENT);
    SplittableRandom random = new SplittableRandom(WEIGHTS_SEED);
    if (FLOATS.contains(type)) {
      float[] row = new float[columns];
      for (int r = 0; r < rows; r++) {
        for (int i = 0; i < columns; i++) {
          row[i] = (float) random.nextDouble(-1, 1);
        }
        Encoder.encode(type, row, 0, columns, data, r * type.bytes(columns));
      }
      return new Tensor("random", type, columns, rows, data);
    }
    for (long at = 0; at + 8 <= data.byteSize(); at += 8) {
      // No exponent of all ones in any 16 bits: nothing infinite, whatever they are read as.
      data.set(ValueLayout.JAVA_LONG, at, random.nextLong() & 0xBBFF_BBFF_BBFF_BBFFL);
    }
    if (type == DataType.MXFP4) {
      // Its scale is nothing but an exponent: here of 2^-12 to 2^-4.
      for (long at = 0; at < data.byteSize(); at += type.blockBytes()) {
        data.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt(115, 124));
      }
    }
    return new Tensor("random", type, columns, rows, data);
  }

  /** Values between −1 and 1 as the type's own encoder writes them. */
  private static Tensor encoded(Arena arena, DataType type, int rows, int columns) {
    return TensorEncoder.encode(
        "random",
        type,
        columns,
        rows,
        (row, to) -> {
          SplittableRandom random = new SplittableRandom(WEIGHTS_SEED + row);
          for (int i = 0; i < to.length; i++) {
            to[i] = (float) random.nextDouble(-1, 1);
          }
        },
        arena);
  }

  /** Activations between −1 and 1. */
  public static Rows rows(Arena arena, int rows, int width) {
    Rows x = Rows.allocateApart(arena, rows, width);
    SplittableRandom random = new SplittableRandom(ACTIVATIONS_SEED);
    for (int row = 0; row < rows; row++) {
      for (int i = 0; i < width; i++) {
        x.set(row, i, (float) random.nextDouble(-1, 1));
      }
    }
    return x;
  }
}

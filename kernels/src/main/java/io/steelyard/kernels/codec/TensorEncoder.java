package io.steelyard.kernels.codec;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.DataType.Scaling;
import io.steelyard.kernels.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.LongStream;

/**
 * Turns a tensor's values into blocks and what lies beside them. Where scales are the tensor's or a
 * row's, all values are looked at before any is encoded.
 */
public final class TensorEncoder {
  /** The largest level of NVFP4 times the largest of its blocks' scales. */
  private static final float LARGEST_NVFP4 = 6 * 448;

  /** Where values come from. Rows are asked for in any order, by several threads. */
  @FunctionalInterface
  public interface Source {
    /** Fills {@code to[0 …]} with a row's values, which must be finite. */
    void row(long row, float[] to);
  }

  private final DataType type;
  private final int columns;
  private final long rows;
  private final float[] scales;

  /** A weight for each column, of each matrix; empty where all count alike. */
  private final float[] importance;

  private TensorEncoder(DataType type, int columns, long rows, float[] scales, float[] importance) {
    this.type = type;
    this.columns = columns;
    this.rows = rows;
    this.scales = scales;
    this.importance = importance;
  }

  /**
   * The same, for a tensor whose columns matter differently.
   *
   * @param weights of the squared errors, positive, one a column; of several matrices one after the
   *     other
   * @throws IllegalArgumentException if they are no multiple of the columns
   */
  public TensorEncoder withImportance(float[] weights) {
    if (weights.length == 0 || weights.length % columns != 0) {
      throw new IllegalArgumentException(
          weights.length + " weights are no multiple of " + columns + " columns");
    }
    return new TensorEncoder(type, columns, rows, scales, weights.clone());
  }

  /**
   * Looks at the values as far as the type needs it.
   *
   * @param columns values in a row, a multiple of the type's block size
   * @param rows of all matrices
   * @param matrices that lie one after another, such as those of experts: each has scales of its
   *     own where a tensor has one; 1 for an ordinary tensor
   * @throws IllegalArgumentException if the type can't be written
   */
  public static TensorEncoder of(
      DataType type, int columns, long rows, int matrices, Source source) {
    if (!Encoder.types().contains(type)) {
      throw new IllegalArgumentException(
          type + " can't be written; types that can: " + Encoder.types());
    }
    float[] scales =
        switch (type.scaling()) {
          case NONE -> new float[0];
          case SCALES, MAY_HAVE_SCALES ->
              rowScales(type, columns, rows, type == DataType.INT8_ROW ? rows : matrices, source);
          case NESTED -> nestedScales(type, columns, rows, source);
        };
    return new TensorEncoder(type, columns, rows, scales, new float[0]);
  }

  /** Floats that will lie beside the blocks of such a tensor. */
  public static long scales(DataType type, long columns, long rows, int matrices) {
    return switch (type.scaling()) {
      case NONE -> 0;
      case SCALES, MAY_HAVE_SCALES -> type == DataType.INT8_ROW ? rows : matrices;
      case NESTED -> 1 + Tensor.nested(rows * (columns / type.blockSize()));
    };
  }

  private static float[] rowScales(
      DataType type, int columns, long rows, long count, Source source) {
    float[] largest = new float[Math.toIntExact(rows)];
    eachRow(
        columns,
        rows,
        source,
        (row, values) -> largest[row] = Math.abs(Fit.extreme(values, 0, columns)));
    float[] scales = new float[Math.toIntExact(count)];
    for (int row = 0; row < largest.length; row++) {
      int scale = (int) (row / (rows / count));
      scales[scale] = Math.max(scales[scale], largest[row]);
    }
    for (int i = 0; i < scales.length; i++) {
      scales[i] /= largestLevel(type);
    }
    return scales;
  }

  private static float largestLevel(DataType type) {
    return switch (type) {
      case FP8_E4M3 -> SmallFloat.E4M3.largest();
      case FP8_E5M2 -> SmallFloat.E5M2.largest();
      case NVFP4 -> LARGEST_NVFP4;
      default -> Byte.MAX_VALUE;
    };
  }

  /** The blocks' mean largest magnitude, then the largest distance to it of each 256. */
  private static float[] nestedScales(DataType type, int columns, long rows, Source source) {
    int blocks = columns / type.blockSize();
    float[] largest = new float[Math.toIntExact(rows * blocks)];
    eachRow(
        columns,
        rows,
        source,
        (row, values) -> {
          for (int i = 0; i < blocks; i++) {
            largest[row * blocks + i] =
                Math.abs(Fit.extreme(values, i * type.blockSize(), type.blockSize()));
          }
        });
    double sum = 0;
    for (float each : largest) {
      sum += each;
    }
    float mean = (float) (sum / largest.length);
    float[] scales = new float[Math.toIntExact(1 + Tensor.nested(largest.length))];
    scales[0] = mean;
    for (int i = 0; i < largest.length; i++) {
      int group = 1 + i / Tensor.NESTED_BLOCKS;
      scales[group] = Math.max(scales[group], Math.abs(largest[i] - mean));
    }
    return scales;
  }

  private interface RowVisitor {
    void visit(int row, float[] values);
  }

  private static void eachRow(int columns, long rows, Source source, RowVisitor visitor) {
    int some = Math.max(1, (1 << 18) / columns);
    LongStream.range(0, Math.ceilDiv(rows, some))
        .parallel()
        .forEach(
            part -> {
              float[] values = new float[columns];
              long end = Math.min(rows, (part + 1) * some);
              for (long row = part * some; row < end; row++) {
                source.row(row, values);
                visitor.visit((int) row, values);
              }
            });
  }

  /** What lies beside the blocks. */
  public float[] scales() {
    return scales.clone();
  }

  /**
   * Encodes consecutive values of a row; for any thread.
   *
   * @param column of the first value, a multiple of the type's block size
   * @param values of them, from index {@code from} on; they may be overwritten
   * @param count of values, a multiple of the type's block size
   */
  public void encode(
      long row, int column, float[] values, int from, int count, MemorySegment to, long at) {
    if (type.scaling() == Scaling.NESTED) {
      for (int i = 0; i < count; i += type.blockSize()) {
        long block = row * (columns / type.blockSize()) + (column + i) / type.blockSize();
        float scale = scales[(int) (1 + block / Tensor.NESTED_BLOCKS)];
        NormalFloat.encodeNested(values, from + i, scales[0], scale, to, at + type.bytes(i));
      }
      return;
    }
    if (scales.length > 0) {
      float scale = scales[(int) (row / (rows / scales.length))];
      for (int i = from; i < from + count; i++) {
        values[i] = scale == 0 ? 0 : values[i] / scale;
      }
    }
    if (importance.length == 0) {
      Encoder.encode(type, values, from, count, to, at);
    } else {
      long matrix = row / (rows / (importance.length / columns));
      int first = (int) (matrix * columns) + column;
      Encoder.encode(type, values, from, count, importance, first, to, at);
    }
  }

  /** Encodes all rows of a tensor into memory of an arena. */
  public static Tensor encode(
      String name, DataType type, int columns, long rows, Source source, Arena arena) {
    TensorEncoder encoder = of(type, columns, rows, 1, source);
    MemorySegment data = arena.allocate(Math.multiplyExact(rows, type.bytes(columns)), 64);
    eachRow(
        columns,
        rows,
        source,
        (row, values) ->
            encoder.encode(row, 0, values, 0, columns, data, row * type.bytes(columns)));
    MemorySegment beside = arena.allocateFrom(ValueLayout.JAVA_FLOAT, encoder.scales);
    return new Tensor(name, type, columns, rows, data, beside);
  }
}

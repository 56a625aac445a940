package io.steelyard.kernels;

/**
 * One layer's keys and values, made by {@link Kernels#keyValues}. How they are laid out is the
 * tier's own affair: they are written by {@link Kernels#store} and read by {@link
 * Kernels#attention}.
 */
public interface KeyValues {
  /** What it holds. */
  Shape shape();

  /** Bytes allocated. */
  long bytes();

  /**
   * Takes over the first positions of another cache, bit for bit; those behind them are undefined.
   *
   * @param from of the same tier and shape, with at least so many positions stored
   */
  void copy(KeyValues from, int positions);

  /**
   * The shape of one layer's cache.
   *
   * @param type {@link DataType#F32}, {@link DataType#F16}, or {@link DataType#Q8_0}: bytes of
   *     which 32 of a head share a scale
   * @param heads key-value heads
   * @param dimension values of a head's key, and of its value
   * @param capacity positions
   */
  record Shape(DataType type, int heads, int dimension, int capacity) {
    public Shape {
      if (type != DataType.F32 && type != DataType.F16 && type != DataType.Q8_0) {
        throw new IllegalArgumentException("a KV cache holds f32, f16 or q8_0, not " + type);
      }
      if (dimension % type.blockSize() != 0) {
        throw new IllegalArgumentException(
            "a KV cache of q8_0 needs heads of a multiple of 32 values, not " + dimension);
      }
      if (heads < 1 || dimension < 1 || capacity < 1) {
        throw new IllegalArgumentException(
            "no KV cache of " + heads + " heads × " + dimension + " values × " + capacity);
      }
    }

    /** Values of one position's keys: {@code heads × dimension}. */
    public int width() {
      return heads * dimension;
    }
  }
}

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
   * The shape of one layer's cache.
   *
   * @param type {@link DataType#F32} or {@link DataType#F16}
   * @param heads key-value heads
   * @param dimension values of a head's key, and of its value
   * @param capacity positions
   */
  record Shape(DataType type, int heads, int dimension, int capacity) {
    public Shape {
      if (type != DataType.F32 && type != DataType.F16) {
        throw new IllegalArgumentException("a KV cache holds f32 or f16, not " + type);
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

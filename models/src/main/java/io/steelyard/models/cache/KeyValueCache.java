package io.steelyard.models.cache;

import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.KeyValues;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.stream.IntStream;

/** The keys and values of all layers for the positions processed so far. */
public final class KeyValueCache {
  private final List<KeyValues> layers;
  private final KeyValues.Shape shape;
  private int length;

  /**
   * Allocates an empty cache.
   *
   * @param arena owns the memory
   * @param shape of each layer
   */
  public KeyValueCache(Kernels kernels, Arena arena, int layers, KeyValues.Shape shape) {
    this.shape = shape;
    this.layers =
        IntStream.range(0, layers).mapToObj(layer -> kernels.keyValues(arena, shape)).toList();
  }

  /** One layer's part. */
  public KeyValues layer(int layer) {
    return layers.get(layer);
  }

  /** The shape of each layer. */
  public KeyValues.Shape shape() {
    return shape;
  }

  /** Positions it holds. */
  public int length() {
    return length;
  }

  /** Positions it has room for. */
  public int capacity() {
    return shape.capacity();
  }

  /** Counts positions that have been stored in every layer. */
  public void advance(int tokens) {
    if (tokens < 0 || tokens > capacity() - length) {
      throw new IllegalArgumentException(
          tokens + " more tokens don't fit after " + length + " of " + capacity());
    }
    length += tokens;
  }

  /**
   * Forgets the positions from {@code length} on.
   *
   * @throws IllegalArgumentException if it holds fewer
   */
  public void truncate(int length) {
    if (length < 0 || length > this.length) {
      throw new IllegalArgumentException(
          "can't cut a cache of " + this.length + " positions to " + length);
    }
    this.length = length;
  }

  /**
   * Takes over the first positions of another cache of the same shape in place of its own.
   *
   * @throws IllegalArgumentException if the other holds fewer
   */
  public void copy(KeyValueCache from, int positions) {
    if (positions > from.length || !from.shape.equals(shape)) {
      throw new IllegalArgumentException(
          positions + " positions can't come from a cache of " + from.length + ", " + from.shape);
    }
    for (int layer = 0; layer < layers.size(); layer++) {
      layers.get(layer).copy(from.layers.get(layer), positions);
    }
    length = positions;
  }

  /** Bytes allocated. */
  public long bytes() {
    return layers.stream().mapToLong(KeyValues::bytes).sum();
  }
}

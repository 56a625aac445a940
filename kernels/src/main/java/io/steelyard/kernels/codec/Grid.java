package io.steelyard.kernels.codec;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * The points of a lattice that the IQ types choose from: small vectors, of which a weight block
 * names one by its index.
 *
 * <p>A resource holds a point as 16 bits in four hexadecimal digits, the first coordinate in the
 * lowest bits: eight coordinates of two bits, or four of four bits, each the index of a level.
 * Source: the tables of {@code ggml-common.h}.
 */
final class Grid {
  private final int size;
  private final int dimension;
  private final byte[] coordinates;

  private Grid(int size, int dimension, byte[] coordinates) {
    this.size = size;
    this.dimension = dimension;
    this.coordinates = coordinates;
  }

  /** Points of eight coordinates. */
  static Grid ofEight(String resource, int size, int... levels) {
    return read(resource, size, 8, levels);
  }

  /** Points of four coordinates. */
  static Grid ofFour(String resource, int size, int... levels) {
    return read(resource, size, 4, levels);
  }

  private static Grid read(String resource, int size, int dimension, int[] levels) {
    String text;
    try (InputStream in = Grid.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException(resource + " is missing from Steelyard's own files");
      }
      text = new String(in.readAllBytes(), StandardCharsets.US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    String[] points = text.strip().split("\\s+", -1);
    if (points.length != size) {
      throw new IllegalStateException(
          "%s has %d points instead of %d".formatted(resource, points.length, size));
    }
    int bits = Short.SIZE / dimension;
    byte[] coordinates = new byte[size * dimension];
    for (int point = 0; point < size; point++) {
      int packed = Integer.parseInt(points[point], 16);
      for (int i = 0; i < dimension; i++) {
        int level = (packed >> (bits * i)) & ((1 << bits) - 1);
        coordinates[point * dimension + i] = (byte) levels[level];
      }
    }
    return new Grid(size, dimension, coordinates);
  }

  int size() {
    return size;
  }

  int dimension() {
    return dimension;
  }

  /** Coordinate i of a point. */
  int at(int point, int i) {
    return coordinates[point * dimension + i];
  }
}

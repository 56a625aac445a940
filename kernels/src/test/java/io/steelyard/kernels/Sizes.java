package io.steelyard.kernels;

import io.steelyard.kernels.codec.Repacker;
import java.util.stream.IntStream;

/** Sizes of the products that tests make. */
enum Sizes {
  /** Around every boundary of the kernels. */
  ALL,
  /** What an emulator gets through in a moment: something of each path, and of each remainder. */
  SOME;

  int[] columns(DataType type) {
    return switch (type.blockSize()) {
      case 1 -> this == ALL ? new int[] {1, 3, 17, 64, 77, 1100} : new int[] {3, 77};
      case 32 -> this == ALL ? new int[] {32, 96, 576, 1056} : new int[] {96, 192, 288};
      default -> this == ALL ? new int[] {256, 768, 1280} : new int[] {256, 768};
    };
  }

  /** Types without kernels of their own take the paths of those that have some. */
  int[] rows(DataType type) {
    if (Repacker.target(type) != type) {
      return this == ALL ? new int[] {1, 49} : new int[] {5};
    }
    return this == ALL ? new int[] {1, 5, 6, 7, 49, 130} : new int[] {37};
  }

  int[] tokens(DataType type) {
    if (Repacker.target(type) != type) {
      return this == ALL ? new int[] {1, 5, 17, 130} : new int[] {1, 17};
    }
    return this == ALL ? new int[] {1, 2, 4, 5, 16, 17, 31, 32, 33, 130} : new int[] {1, 6, 17, 39};
  }

  /**
   * Tokens up to the first number that isn't few. Each number of few is put together its own way.
   */
  int[] fewTokens() {
    return this == ALL ? IntStream.rangeClosed(1, 17).toArray() : new int[] {1, 2, 3, 7, 16, 17};
  }

  /** Rows for each of {@link #fewTokens}. */
  int fewTokensRows() {
    return this == ALL ? 33 : 9;
  }
}

package io.steelyard.kernels.machine;

import io.steelyard.kernels.DataType;

/**
 * The functions of matrix products, and of attention, in AMX tiles of bf16 pairs. What they take is
 * said where each is written.
 *
 * <p>Weights lie in blocks of 32 rows, activations in blocks of 16 tokens, their sums in blocks of
 * both. A <em>chunk</em> is 32 values along k: of weights two tiles, each of 16 rows of 64 bytes;
 * of activations one tile of 16 pairs of values for 16 tokens. Tiles of a chunk follow each other,
 * and chunks do. A block of sums is two tiles of float32, of 16 rows for 16 tokens each.
 *
 * <p>A product can be <em>split</em>: weights and activations are each the sum of two bf16, about
 * 16 bits. The tiles of a chunk's low parts then follow those of its high ones.
 */
public interface TileCode {
  /** Rows of a block: two tiles. */
  int ROWS = 32;

  /** Tokens of a block, and rows of a tile. */
  int TOKENS = 16;

  /** Values that a chunk covers along k. */
  int CHUNK = 32;

  int TILE_BYTES = 1024;
  int SUM_BYTES = 2 * TILE_BYTES;

  /** Bytes of a chunk of weights. */
  static int weightBytes(boolean split) {
    return (split ? 4 : 2) * TILE_BYTES;
  }

  /** Bytes of a chunk of activations. */
  static int activationBytes(boolean split) {
    return (split ? 2 : 1) * TILE_BYTES;
  }

  /** Functions of which there is one each. */
  enum TilePart {
    /** Writes a block of sums as rows of results. */
    RESULTS,
    /** Writes a query as a row of weights. */
    QUERY,
    /** Turns scores into weights. */
    SOFTMAX,
    /** Writes a row's result of attention. */
    ATTENDED
  }

  /** Whether products of a type are made in tiles. */
  boolean takes(DataType type);

  /** Whether products of a type are split. */
  boolean splits(DataType type);

  /** Writes rows of weights as a block. */
  Function weights(DataType type);

  /** Writes activations as a block. */
  Function activations(boolean split);

  /** Multiplies a block of weights with several blocks of activations. */
  Function product(boolean split);

  /** Writes panels of keys or values, of float16 or float32, as two blocks of activations. */
  Function panels(DataType type);

  /** The one of this name. */
  Function part(TilePart part);
}

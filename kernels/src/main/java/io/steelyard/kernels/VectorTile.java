package io.steelyard.kernels;

import static io.steelyard.kernels.Lanes.BYTES;
import static io.steelyard.kernels.Lanes.COUNT;

import jdk.incubator.vector.FloatVector;

/**
 * The register tile under every product of many tokens, attention's included: six rows of weights
 * times a panel of two vectors, lanes being tokens. Twelve accumulators stay in registers; nothing
 * is summed across lanes.
 */
final class VectorTile {
  /** Rows of the left operand in a tile. */
  static final int ROWS = 6;

  /** Lanes of a panel: two vectors. */
  static final int WIDTH = 2 * COUNT;

  /** Bytes of a panel's row. */
  static final int ROW_BYTES = 2 * BYTES;

  private VectorTile() {}

  /** The next multiple of {@link #ROWS}. */
  static int roundUpRows(int rows) {
    return (rows + ROWS - 1) / ROWS * ROWS;
  }

  /**
   * Adds a product: {@code out[r][lane] += Σ_k w[r][k] · panel[k][lane]} for six rows.
   *
   * @param w address of w[0][0]
   * @param row bytes from w[r] to w[r+1]
   * @param step bytes from w[r][k] to w[r][k+1]
   * @param depth number of k
   * @param panel address of [depth][{@link #WIDTH}] float32
   * @param out address of [6] rows of {@link #WIDTH} float32, {@code outRow} bytes apart
   */
  static void multiply(long w, long row, long step, int depth, long panel, long out, long outRow) {
    FloatVector a0 = Lanes.load(out);
    FloatVector b0 = Lanes.load(out + BYTES);
    FloatVector a1 = Lanes.load(out + outRow);
    FloatVector b1 = Lanes.load(out + outRow + BYTES);
    FloatVector a2 = Lanes.load(out + 2 * outRow);
    FloatVector b2 = Lanes.load(out + 2 * outRow + BYTES);
    FloatVector a3 = Lanes.load(out + 3 * outRow);
    FloatVector b3 = Lanes.load(out + 3 * outRow + BYTES);
    FloatVector a4 = Lanes.load(out + 4 * outRow);
    FloatVector b4 = Lanes.load(out + 4 * outRow + BYTES);
    FloatVector a5 = Lanes.load(out + 5 * outRow);
    FloatVector b5 = Lanes.load(out + 5 * outRow + BYTES);
    for (int k = 0; k < depth; k++) {
      FloatVector left = Lanes.load(panel);
      FloatVector right = Lanes.load(panel + BYTES);
      FloatVector x = Lanes.broadcast(w);
      a0 = x.fma(left, a0);
      b0 = x.fma(right, b0);
      x = Lanes.broadcast(w + row);
      a1 = x.fma(left, a1);
      b1 = x.fma(right, b1);
      x = Lanes.broadcast(w + 2 * row);
      a2 = x.fma(left, a2);
      b2 = x.fma(right, b2);
      x = Lanes.broadcast(w + 3 * row);
      a3 = x.fma(left, a3);
      b3 = x.fma(right, b3);
      x = Lanes.broadcast(w + 4 * row);
      a4 = x.fma(left, a4);
      b4 = x.fma(right, b4);
      x = Lanes.broadcast(w + 5 * row);
      a5 = x.fma(left, a5);
      b5 = x.fma(right, b5);
      panel += ROW_BYTES;
      w += step;
    }
    Lanes.store(out, a0);
    Lanes.store(out + BYTES, b0);
    Lanes.store(out + outRow, a1);
    Lanes.store(out + outRow + BYTES, b1);
    Lanes.store(out + 2 * outRow, a2);
    Lanes.store(out + 2 * outRow + BYTES, b2);
    Lanes.store(out + 3 * outRow, a3);
    Lanes.store(out + 3 * outRow + BYTES, b3);
    Lanes.store(out + 4 * outRow, a4);
    Lanes.store(out + 4 * outRow + BYTES, b4);
    Lanes.store(out + 5 * outRow, a5);
    Lanes.store(out + 5 * outRow + BYTES, b5);
  }
}

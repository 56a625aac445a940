package io.steelyard.kernels;

import static io.steelyard.kernels.Lanes.COUNT;

import io.steelyard.kernels.codec.FourBitLevels;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Products of a weight row with few activation rows: what {@link VectorDot} gives for each of them,
 * bit for bit, since every sum takes the same steps. The row is unpacked once for all, and meets
 * four of them at a time.
 *
 * <p>An unpacked row of blocks is the float32 levels of all columns, then the scale of each 32,
 * then what the sum of each 32 activations is multiplied by. Of types without blocks, and of those
 * that are decoded, it is the values.
 */
final class VectorFew {
  /** Tokens that a row meets at a time: there must be as many. */
  static final int TOKENS = 4;

  private static final int BLOCK = VectorDot.SUM_BLOCK;

  private VectorFew() {}

  /** Whether {@link VectorDot} sums a type as these products do. */
  static boolean takes(DataType type) {
    return type != DataType.F16_2OF4;
  }

  /** Bytes of an unpacked row. */
  static long bytes(int columns) {
    return Float.BYTES * (columns + 2L * (columns / BLOCK));
  }

  /**
   * What the products of minima and sums are multiplied by when they are added; 0 for no minima.
   */
  private static float minimumFactor(DataType type) {
    return switch (type) {
      case Q4_0 -> -8;
      case Q4_1 -> 1;
      case Q4_K, Q5_K -> -1;
      default -> 0;
    };
  }

  /**
   * Unpacks a row.
   *
   * @param to address of {@link #bytes}
   * @return where the unpacked row is, which may be where it was
   */
  static long unpack(Tensor part, long row, int columns, long to) {
    long from = part.data().address() + row * part.rowBytes();
    long scales = to + 4L * columns;
    long minima = scales + 4L * (columns / BLOCK);
    switch (part.type()) {
      case F32 -> {
        return from;
      }
      case Q8_0 -> q8Zero(from, columns, to, scales);
      case Q4_0 -> q4Zero(from, columns, to, scales, minima);
      case Q4_1 -> q4One(from, columns, to, scales, minima);
      case Q5_0 -> q5Zero(from, columns, to, scales);
      case IQ4_NL -> iq4Nonlinear(from, columns, to, scales);
      case MXFP4 -> mxfp4(from, columns, to, scales);
      case Q4_K -> q4K(from, columns, to, scales, minima);
      case Q5_K -> q5K(from, columns, to, scales, minima);
      default -> VectorDecode.run(part, row, 0, columns, to);
    }
    return to;
  }

  private static void q8Zero(long w, int columns, long to, long scales) {
    for (int i = 0; i < columns; i += BLOCK, w += 34) {
      for (int j = 0; j < BLOCK; j += COUNT) {
        Lanes.store(to + 4L * (i + j), Lanes.toFloat(Lanes.signedBytes(w + 2 + j)));
      }
      Lanes.put(scales + 4L * (i / BLOCK), Lanes.half(w));
    }
  }

  private static void q4Zero(long w, int columns, long to, long scales, long minima) {
    for (int i = 0; i < columns; i += BLOCK, w += 18) {
      nibbles(w + 2, to + 4L * i);
      Lanes.put(scales + 4L * (i / BLOCK), Lanes.half(w));
      Lanes.put(minima + 4L * (i / BLOCK), Lanes.half(w));
    }
  }

  private static void q4One(long w, int columns, long to, long scales, long minima) {
    for (int i = 0; i < columns; i += BLOCK, w += 20) {
      nibbles(w + 4, to + 4L * i);
      Lanes.put(scales + 4L * (i / BLOCK), Lanes.half(w));
      Lanes.put(minima + 4L * (i / BLOCK), Lanes.half(w + 2));
    }
  }

  private static void nibbles(long pairs, long to) {
    for (int j = 0; j < BLOCK / 2; j += COUNT) {
      IntVector packed = Lanes.unsignedBytes(pairs + j);
      Lanes.store(to + 4L * j, Lanes.toFloat(packed.and(0xF)));
      Lanes.store(to + 64 + 4L * j, Lanes.toFloat(packed.lanewise(VectorOperators.LSHR, 4)));
    }
  }

  private static void q5Zero(long w, int columns, long to, long scales) {
    for (int i = 0; i < columns; i += BLOCK, w += 22) {
      for (int j = 0; j < BLOCK / 2; j += COUNT) {
        long at = to + 4L * (i + j);
        Lanes.store(at, Lanes.toFloat(VectorDecode.q5Zero(w, 0, j)));
        Lanes.store(at + 64, Lanes.toFloat(VectorDecode.q5Zero(w, 1, j)));
      }
      Lanes.put(scales + 4L * (i / BLOCK), Lanes.half(w));
    }
  }

  private static void iq4Nonlinear(long w, int columns, long to, long scales) {
    for (int i = 0; i < columns; i += BLOCK, w += 18) {
      levels(VectorDecode.NONLINEAR, w + 2, to + 4L * i);
      Lanes.put(scales + 4L * (i / BLOCK), Lanes.half(w));
    }
  }

  private static void mxfp4(long w, int columns, long to, long scales) {
    for (int i = 0; i < columns; i += BLOCK, w += 17) {
      levels(VectorDecode.DOUBLED_FLOATS, w + 1, to + 4L * i);
      float scale = FourBitLevels.halfOfE8M0(Lanes.unsignedByte(w));
      Lanes.put(scales + 4L * (i / BLOCK), scale);
    }
  }

  private static void levels(ByteVector levels, long pairs, long to) {
    for (int half = 0; half < 2; half++) {
      long at = to + 64L * half;
      // As bytes first, where the last of these values will be.
      long bytes = at + 48;
      Lanes.putLevels(levels, pairs, 4 * half, bytes);
      for (int j = 0; j < BLOCK / 2; j += COUNT) {
        Lanes.store(at + 4L * j, Lanes.toFloat(Lanes.signedBytes(bytes + j)));
      }
    }
  }

  private static void q4K(long w, int columns, long to, long scales, long minima) {
    for (int i = 0; i < columns; i += 256, w += 144) {
      for (int sub = 0; sub < 8; sub++) {
        long nibbles = w + 16 + 32L * (sub >> 1);
        for (int j = 0; j < BLOCK; j += COUNT) {
          IntVector q =
              Lanes.unsignedBytes(nibbles + j)
                  .lanewise(VectorOperators.LSHR, 4 * (sub & 1))
                  .and(0xF);
          Lanes.store(to + 4L * (i + BLOCK * sub + j), Lanes.toFloat(q));
        }
      }
      scalesOfK(w, scales + 4L * (i / BLOCK), minima + 4L * (i / BLOCK));
    }
  }

  private static void q5K(long w, int columns, long to, long scales, long minima) {
    for (int i = 0; i < columns; i += 256, w += 176) {
      for (int sub = 0; sub < 8; sub++) {
        for (int j = 0; j < BLOCK; j += COUNT) {
          IntVector q = VectorDecode.q5(w, sub, j);
          Lanes.store(to + 4L * (i + BLOCK * sub + j), Lanes.toFloat(q));
        }
      }
      scalesOfK(w, scales + 4L * (i / BLOCK), minima + 4L * (i / BLOCK));
    }
  }

  private static void scalesOfK(long w, long scales, long minima) {
    float scale = Lanes.half(w);
    float minimum = Lanes.half(w + 2);
    for (int sub = 0; sub < 8; sub++) {
      Lanes.put(scales + 4L * sub, scale * KScales.scale(w + 4, sub));
      Lanes.put(minima + 4L * sub, minimum * KScales.minimum(w + 4, sub));
    }
  }

  /** Bytes of the sums of so many tokens, as {@link #turn} writes them. */
  static long sumBytes(int blocks, int tokens) {
    return (long) Float.BYTES * blocks * lanesOf(tokens);
  }

  private static int lanesOf(int tokens) {
    return (tokens + COUNT - 1) / COUNT * COUNT;
  }

  /**
   * Turns sums of activations, so that tokens are lanes.
   *
   * @param sums address of [token][block]
   * @param to address of {@link #sumBytes}
   */
  static void turn(long sums, int blocks, int tokens, long to) {
    int lanes = lanesOf(tokens);
    for (int token = 0; token < lanes; token++) {
      for (int b = 0; b < blocks; b++) {
        float sum = token < tokens ? Lanes.scalar(sums + 4L * (token * blocks + b)) : 0;
        Lanes.put(to + 4L * (b * lanes + token), sum);
      }
    }
  }

  /**
   * Multiplies an unpacked row with all tokens.
   *
   * @param unpacked as {@link #unpack} gives it
   * @param sums of each 32 activations, as {@link #turn} gives them
   * @param column of the products in y
   * @param lanes address of scratch memory for one vector
   */
  static void multiply(
      DataType type, long unpacked, Rows x, int tokens, long sums, Rows y, int column, long lanes) {
    int columns = x.width();
    long nextY = 4L * y.stride();
    for (int t = 0; t < tokens; t += TOKENS) {
      // The last ones may come again, to the same bits.
      int token = Math.min(t, tokens - TOKENS);
      long x0 = x.address(token);
      long x1 = x.address(token + 1);
      long x2 = x.address(token + 2);
      long x3 = x.address(token + 3);
      long to = y.address(token) + 4L * column;
      switch (type) {
        case Q8_0, IQ4_NL, MXFP4, Q4_K, Q5_K ->
            blocks(unpacked, columns, x0, x1, x2, x3, to, nextY, lanes);
        case Q4_0, Q4_1, Q5_0 -> halvedBlocks(unpacked, columns, x0, x1, x2, x3, to, nextY, lanes);
        default -> values(unpacked, columns, x0, x1, x2, x3, to, nextY, lanes);
      }
    }
    float factor = minimumFactor(type);
    if (factor != 0) {
      int blocks = columns / BLOCK;
      long minima = unpacked + 4L * (columns + blocks);
      addMinima(minima, blocks, sums, tokens, factor, y.address(0) + 4L * column, nextY, lanes);
    }
  }

  private static void values(
      long w, int columns, long x0, long x1, long x2, long x3, long y, long nextY, long lanes) {
    FloatVector even0 = Lanes.broadcastOf(0);
    FloatVector even1 = even0;
    FloatVector even2 = even0;
    FloatVector even3 = even0;
    FloatVector odd0 = even0;
    FloatVector odd1 = even0;
    FloatVector odd2 = even0;
    FloatVector odd3 = even0;
    int i = 0;
    for (; i + 2 * COUNT <= columns; i += 2 * COUNT) {
      long at = 4L * i;
      FloatVector even = Lanes.load(w + at);
      even0 = even.fma(Lanes.load(x0 + at), even0);
      even1 = even.fma(Lanes.load(x1 + at), even1);
      even2 = even.fma(Lanes.load(x2 + at), even2);
      even3 = even.fma(Lanes.load(x3 + at), even3);
      at += 4L * COUNT;
      FloatVector odd = Lanes.load(w + at);
      odd0 = odd.fma(Lanes.load(x0 + at), odd0);
      odd1 = odd.fma(Lanes.load(x1 + at), odd1);
      odd2 = odd.fma(Lanes.load(x2 + at), odd2);
      odd3 = odd.fma(Lanes.load(x3 + at), odd3);
    }
    Lanes.put(y, withRest(Lanes.sum(even0.add(odd0), lanes), w, x0, i, columns));
    Lanes.put(y + nextY, withRest(Lanes.sum(even1.add(odd1), lanes), w, x1, i, columns));
    Lanes.put(y + 2 * nextY, withRest(Lanes.sum(even2.add(odd2), lanes), w, x2, i, columns));
    Lanes.put(y + 3 * nextY, withRest(Lanes.sum(even3.add(odd3), lanes), w, x3, i, columns));
  }

  private static float withRest(float sum, long w, long x, int from, int columns) {
    for (int i = from; i < columns; i++) {
      sum += Lanes.scalar(w + 4L * i) * Lanes.scalar(x + 4L * i);
    }
    return sum;
  }

  private static void blocks(
      long levels,
      int columns,
      long x0,
      long x1,
      long x2,
      long x3,
      long y,
      long nextY,
      long lanes) {
    long scales = levels + 4L * columns;
    FloatVector sum0 = Lanes.broadcastOf(0);
    FloatVector sum1 = sum0;
    FloatVector sum2 = sum0;
    FloatVector sum3 = sum0;
    for (int i = 0; i < columns; i += BLOCK) {
      FloatVector block0 = Lanes.broadcastOf(0);
      FloatVector block1 = block0;
      FloatVector block2 = block0;
      FloatVector block3 = block0;
      for (int j = 0; j < BLOCK; j += COUNT) {
        long at = 4L * (i + j);
        FloatVector level = Lanes.load(levels + at);
        block0 = level.fma(Lanes.load(x0 + at), block0);
        block1 = level.fma(Lanes.load(x1 + at), block1);
        block2 = level.fma(Lanes.load(x2 + at), block2);
        block3 = level.fma(Lanes.load(x3 + at), block3);
      }
      FloatVector scale = Lanes.broadcast(scales + 4L * (i / BLOCK));
      sum0 = block0.fma(scale, sum0);
      sum1 = block1.fma(scale, sum1);
      sum2 = block2.fma(scale, sum2);
      sum3 = block3.fma(scale, sum3);
    }
    Lanes.put(y, Lanes.sum(sum0, lanes));
    Lanes.put(y + nextY, Lanes.sum(sum1, lanes));
    Lanes.put(y + 2 * nextY, Lanes.sum(sum2, lanes));
    Lanes.put(y + 3 * nextY, Lanes.sum(sum3, lanes));
  }

  /** The same of types whose low nibbles are a block's first half: both halves go by turns. */
  private static void halvedBlocks(
      long levels,
      int columns,
      long x0,
      long x1,
      long x2,
      long x3,
      long y,
      long nextY,
      long lanes) {
    long scales = levels + 4L * columns;
    FloatVector sum0 = Lanes.broadcastOf(0);
    FloatVector sum1 = sum0;
    FloatVector sum2 = sum0;
    FloatVector sum3 = sum0;
    for (int i = 0; i < columns; i += BLOCK) {
      FloatVector block0 = Lanes.broadcastOf(0);
      FloatVector block1 = block0;
      FloatVector block2 = block0;
      FloatVector block3 = block0;
      for (int j = 0; j < BLOCK / 2; j += COUNT) {
        long at = 4L * (i + j);
        FloatVector low = Lanes.load(levels + at);
        block0 = low.fma(Lanes.load(x0 + at), block0);
        block1 = low.fma(Lanes.load(x1 + at), block1);
        block2 = low.fma(Lanes.load(x2 + at), block2);
        block3 = low.fma(Lanes.load(x3 + at), block3);
        at += 4L * BLOCK / 2;
        FloatVector high = Lanes.load(levels + at);
        block0 = high.fma(Lanes.load(x0 + at), block0);
        block1 = high.fma(Lanes.load(x1 + at), block1);
        block2 = high.fma(Lanes.load(x2 + at), block2);
        block3 = high.fma(Lanes.load(x3 + at), block3);
      }
      FloatVector scale = Lanes.broadcast(scales + 4L * (i / BLOCK));
      sum0 = block0.fma(scale, sum0);
      sum1 = block1.fma(scale, sum1);
      sum2 = block2.fma(scale, sum2);
      sum3 = block3.fma(scale, sum3);
    }
    Lanes.put(y, Lanes.sum(sum0, lanes));
    Lanes.put(y + nextY, Lanes.sum(sum1, lanes));
    Lanes.put(y + 2 * nextY, Lanes.sum(sum2, lanes));
    Lanes.put(y + 3 * nextY, Lanes.sum(sum3, lanes));
  }

  /** Lanes are tokens, so that each one's products are added in the blocks' order. */
  private static void addMinima(
      long minima,
      int blocks,
      long sums,
      int tokens,
      float factor,
      long y,
      long nextY,
      long lanes) {
    long next = 4L * lanesOf(tokens);
    for (int first = 0; first < tokens; first += COUNT) {
      FloatVector total = Lanes.broadcastOf(0);
      for (int b = 0; b < blocks; b++) {
        FloatVector minimum = Lanes.broadcast(minima + 4L * b);
        total = total.add(minimum.mul(Lanes.load(sums + b * next + 4L * first)));
      }
      Lanes.store(lanes, total);
      for (int token = first; token < Math.min(tokens, first + COUNT); token++) {
        long at = y + token * nextY;
        Lanes.put(at, Lanes.scalar(at) + factor * Lanes.scalar(lanes + 4L * (token - first)));
      }
    }
  }
}

package io.steelyard.models.sampling;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Chooses tokens by a {@link Sampling}. The same seed and logits give the same tokens. */
public final class Sampler {
  /**
   * Logits are looked at in pieces on the heap: before a loop is compiled, which in a cold process
   * is most of its life, reading off-heap memory takes many times as long.
   */
  private static final int PIECE = 4096;

  private static final ThreadLocal<float[]> PIECES =
      ThreadLocal.withInitial(() -> new float[PIECE]);

  private final Sampling sampling;
  private final SplittableRandom random;

  /** Candidates of the current choice, most likely last; see {@link #key}. */
  private long[] candidates = new long[0];

  private double[] weights = new double[0];

  public Sampler(Sampling sampling) {
    this.sampling = sampling;
    this.random = new SplittableRandom(sampling.seed());
  }

  /**
   * The most likely token; of equals the lowest id. A logit that is no number never wins.
   *
   * @param logits float32 values, one a token
   */
  public static int argmax(MemorySegment logits) {
    int count = count(logits);
    float[] piece = PIECES.get();
    int best = 0;
    float max = Float.NEGATIVE_INFINITY;
    for (int from = 0; from < count; from += PIECE) {
      int size = Math.min(PIECE, count - from);
      MemorySegment.copy(logits, ValueLayout.JAVA_FLOAT, (long) from * Float.BYTES, piece, 0, size);
      for (int i = 0; i < size; i++) {
        if (piece[i] > max) {
          max = piece[i];
          best = from + i;
        }
      }
    }
    return best;
  }

  /** The gap between the two largest logits; 0 where they are equal, or where there is one only. */
  public static float margin(MemorySegment logits) {
    int count = count(logits);
    float first = Float.NEGATIVE_INFINITY;
    float second = Float.NEGATIVE_INFINITY;
    for (int id = 0; id < count; id++) {
      float logit = logits.getAtIndex(ValueLayout.JAVA_FLOAT, id);
      if (logit > first) {
        second = first;
        first = logit;
      } else if (logit > second) {
        second = logit;
      }
    }
    return second == Float.NEGATIVE_INFINITY ? 0 : first - second;
  }

  /**
   * Chooses the next token.
   *
   * @param logits float32 values, one a token
   */
  public int next(MemorySegment logits) {
    return sampling.greedy() ? argmax(logits) : draw(logits);
  }

  private int draw(MemorySegment logits) {
    int count = count(logits);
    if (candidates.length != count) {
      candidates = new long[count];
      weights = new double[count];
    }
    for (int id = 0; id < count; id++) {
      candidates[id] = key(logits.getAtIndex(ValueLayout.JAVA_FLOAT, id), id);
    }
    Arrays.sort(candidates);
    double largest = logit(candidates[count - 1]);
    int kept = sampling.topK() == 0 ? count : Math.min(count, sampling.topK());
    double total = 0;
    for (int i = 0; i < kept; i++) {
      double logit = logit(candidates[count - 1 - i]);
      weights[i] = Math.exp((logit - largest) / sampling.temperature());
      total += weights[i];
    }
    if (sampling.topP() < 1) {
      double sum = 0;
      int i = 0;
      while (i < kept && sum < sampling.topP() * total) {
        sum += weights[i++];
      }
      kept = i;
    }
    // The largest weight is 1, so a weight is its share of the largest probability.
    while (kept > 1 && weights[kept - 1] < sampling.minP()) {
      kept--;
    }
    return id(candidates[count - 1 - pick(kept)]);
  }

  private int pick(int kept) {
    double total = 0;
    for (int i = 0; i < kept; i++) {
      total += weights[i];
    }
    double left = random.nextDouble() * total;
    for (int i = 0; i < kept - 1; i++) {
      left -= weights[i];
      if (left < 0) {
        return i;
      }
    }
    return kept - 1;
  }

  /**
   * Orders by logit, then by descending id, as one number: the logit's bits, made monotonic, above
   * the complement of the id. What is no number counts as the least.
   */
  private static long key(float logit, int id) {
    int bits = Float.floatToIntBits(Float.isNaN(logit) ? -Float.MAX_VALUE : logit);
    int ordered = bits ^ ((bits >> 31) & Integer.MAX_VALUE);
    return (long) ordered << 32 | (~id & 0xFFFFFFFFL);
  }

  private static int id(long key) {
    return ~(int) key;
  }

  private static float logit(long key) {
    int ordered = (int) (key >> 32);
    return Float.intBitsToFloat(ordered ^ ((ordered >> 31) & Integer.MAX_VALUE));
  }

  private static int count(MemorySegment logits) {
    long count = logits.byteSize() / Float.BYTES;
    if (count == 0) {
      throw new IllegalArgumentException("there are no logits to choose from");
    }
    return Math.toIntExact(count);
  }
}

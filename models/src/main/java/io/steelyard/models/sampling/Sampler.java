package io.steelyard.models.sampling;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Chooses tokens by a {@link Sampling}. The same seed, prompt and logits give the same tokens. Once
 * its buffers have grown to the vocabulary's size, a choice allocates nothing.
 */
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
  private final boolean penalising;
  private final RecentTokens recent;

  /** Candidates of the current choice, most likely last; see {@link #key}. */
  private long[] candidates = new long[0];

  /** Probabilities of the candidates, most likely first, as shares of the largest. */
  private double[] weights = new double[0];

  /** The weights that are left: a filter takes from either end. */
  private int from;

  private int to;

  public Sampler(Sampling sampling) {
    this.sampling = sampling;
    random = new SplittableRandom(sampling.seed());
    penalising = !sampling.penalties().none();
    recent = new RecentTokens(penalising ? sampling.penalties().last() : 0);
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

  /** Begins a text: the penalties know its tokens as seen, and none of an earlier text. */
  public void begin(int[] prompt) {
    if (penalising) {
      recent.clear();
      for (int id : prompt) {
        recent.add(id);
      }
    }
  }

  /**
   * Chooses the next token, which from then on is one of those seen.
   *
   * @param logits float32 values, one a token, as the model gave them
   */
  public int next(MemorySegment logits) {
    if (penalising) {
      recent.reserve(count(logits));
    }
    int id;
    if (!sampling.greedy()) {
      id = draw(logits);
    } else if (penalising) {
      id = leastPenalised(logits);
    } else {
      id = argmax(logits);
    }
    if (penalising) {
      recent.add(id);
    }
    return id;
  }

  private int leastPenalised(MemorySegment logits) {
    int count = count(logits);
    int best = 0;
    float max = Float.NEGATIVE_INFINITY;
    for (int id = 0; id < count; id++) {
      float logit = penalised(logits, id);
      if (logit > max) {
        max = logit;
        best = id;
      }
    }
    return best;
  }

  private float penalised(MemorySegment logits, int id) {
    float logit = logits.getAtIndex(ValueLayout.JAVA_FLOAT, id);
    int seen = penalising ? recent.count(id) : 0;
    return seen == 0 ? logit : sampling.penalties().penalised(logit, seen);
  }

  private int draw(MemorySegment logits) {
    int count = count(logits);
    if (candidates.length != count) {
      candidates = new long[count];
      weights = new double[count];
    }
    for (int id = 0; id < count; id++) {
      candidates[id] = key(penalised(logits, id), id);
    }
    Arrays.sort(candidates);
    from = 0;
    to = sampling.topK() == 0 ? count : Math.min(count, sampling.topK());
    for (int i = 0; i < to; i++) {
      weights[i] = Math.exp(logWeight(i));
    }
    if (sampling.typical() < 1) {
      keepTypical();
    }
    if (sampling.topP() < 1) {
      keepLikely();
    }
    double least = sampling.minP() * weights[from];
    while (to - from > 1 && weights[to - 1] < least) {
      to--;
    }
    return id(candidates[count - 1 - pick()]);
  }

  private double logWeight(int i) {
    int last = candidates.length - 1;
    double below = (double) logit(candidates[last - i]) - logit(candidates[last]);
    return below / sampling.temperature();
  }

  /**
   * Surprise grows along the candidates, so the distance to the entropy falls to its least and
   * rises again: the closest ones are neighbours, and are found by going out from the least.
   */
  private void keepTypical() {
    double total = total();
    double logTotal = Math.log(total);
    double entropy = 0;
    for (int i = from; i < to; i++) {
      if (weights[i] > 0) {
        entropy += weights[i] / total * (logTotal - logWeight(i));
      }
    }
    int low = from;
    for (int i = from + 1; i < to; i++) {
      if (distance(i, logTotal, entropy) < distance(low, logTotal, entropy)) {
        low = i;
      }
    }
    int high = low + 1;
    double sum = weights[low];
    while (sum < sampling.typical() * total && high - low < to - from) {
      boolean down =
          high == to
              || (low > from
                  && distance(low - 1, logTotal, entropy) <= distance(high, logTotal, entropy));
      sum += down ? weights[--low] : weights[high++];
    }
    from = low;
    to = high;
  }

  private double distance(int i, double logTotal, double entropy) {
    return Math.abs(logTotal - logWeight(i) - entropy);
  }

  private void keepLikely() {
    double enough = sampling.topP() * total();
    int end = from + 1;
    double sum = weights[from];
    while (end < to && sum < enough) {
      sum += weights[end++];
    }
    to = end;
  }

  private double total() {
    double total = 0;
    for (int i = from; i < to; i++) {
      total += weights[i];
    }
    return total;
  }

  private int pick() {
    double total = total();
    if (!Double.isFinite(total)) {
      return from; // an infinite logit, which the caller is to see
    }
    double left = random.nextDouble() * total;
    for (int i = from; i < to - 1; i++) {
      left -= weights[i];
      if (left < 0) {
        return i;
      }
    }
    return to - 1;
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

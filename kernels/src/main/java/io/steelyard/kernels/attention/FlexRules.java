package io.steelyard.kernels.attention;

/** Rules that have names. */
public final class FlexRules {
  private FlexRules() {}

  /** Every key. */
  public static FlexRule all() {
    return new Band(Integer.MIN_VALUE, Integer.MAX_VALUE);
  }

  /** No key after the query's own. */
  public static FlexRule causal() {
    return new Band(Integer.MIN_VALUE, 0);
  }

  /** The query's own key and those just before it, so many in all. */
  public static FlexRule slidingWindow(int keys) {
    return new Band(1 - keys, 0);
  }

  /** Keys from so far behind the query (negative) to so far ahead. */
  private record Band(int behind, int ahead) implements FlexRule {
    @Override
    public boolean sees(int batch, int head, int query, int key) {
      long distance = (long) key - query;
      return distance >= behind && distance <= ahead;
    }

    @Override
    public Coverage coverage(int batch, int head, int query, int queryEnd, int key, int keyEnd) {
      long least = (long) key - (queryEnd - 1);
      long most = (long) keyEnd - 1 - query;
      if (least >= behind && most <= ahead) {
        return Coverage.ALL;
      }
      return most < behind || least > ahead ? Coverage.NONE : Coverage.SOME;
    }
  }

  /**
   * Causal, and all of the first keys. In a problem that is causal itself nothing ahead is seen: it
   * is {@link #causal} there.
   */
  public static FlexRule prefix(int keys) {
    return new FlexRule() {
      private final FlexRule causal = causal();

      @Override
      public boolean sees(int batch, int head, int query, int key) {
        return key < keys || key <= query;
      }

      @Override
      public Coverage coverage(int batch, int head, int query, int queryEnd, int key, int keyEnd) {
        if (keyEnd <= keys) {
          return Coverage.ALL;
        }
        Coverage later = causal.coverage(batch, head, query, queryEnd, key, keyEnd);
        return later == Coverage.NONE && key < keys ? Coverage.SOME : later;
      }
    };
  }

  /** Keys of the query's own document; documents have one length, but for the last. */
  public static FlexRule documents(int length) {
    return new FlexRule() {
      @Override
      public boolean sees(int batch, int head, int query, int key) {
        return query / length == key / length;
      }

      @Override
      public Coverage coverage(int batch, int head, int query, int queryEnd, int key, int keyEnd) {
        int firstOfQueries = query / length;
        int lastOfQueries = (queryEnd - 1) / length;
        int firstOfKeys = key / length;
        int lastOfKeys = (keyEnd - 1) / length;
        if (lastOfQueries < firstOfKeys || lastOfKeys < firstOfQueries) {
          return Coverage.NONE;
        }
        return firstOfQueries == lastOfKeys && lastOfQueries == firstOfKeys
            ? Coverage.ALL
            : Coverage.SOME;
      }
    };
  }

  /**
   * A penalty for distance, of another slope for each head: {@code 2^(-8·(h+1)/H)}.
   *
   * <p>Source: Press, Smith and Lewis, "Train Short, Test Long" (2022).
   */
  public static FlexRule alibi(int heads) {
    float[] slopes = new float[heads];
    for (int head = 0; head < heads; head++) {
      slopes[head] = (float) Math.pow(2, -8.0 * (head + 1) / heads);
    }
    return score(
        (score, _, head, query, key) -> score - slopes[head] * Math.abs((float) query - key));
  }

  /**
   * Scores that never pass a cap: {@code cap · tanh(score / cap)}.
   *
   * <p>Source: Gemma Team, "Gemma 2" (2024).
   */
  public static FlexRule softCap(float cap) {
    return score((score, _, _, _, _) -> cap * (float) Math.tanh(score / cap));
  }

  /** What becomes of a scaled score. */
  @FunctionalInterface
  public interface ScoreChange {
    float of(float score, int batch, int head, int query, int key);
  }

  /** A rule that hides nothing and changes scores. */
  public static FlexRule score(ScoreChange change) {
    return new FlexRule() {
      @Override
      public boolean sees(int batch, int head, int query, int key) {
        return true;
      }

      @Override
      public float score(float score, int batch, int head, int query, int key) {
        return change.of(score, batch, head, query, key);
      }

      @Override
      public boolean changesScores() {
        return true;
      }

      @Override
      public Coverage coverage(int batch, int head, int query, int queryEnd, int key, int keyEnd) {
        return Coverage.ALL;
      }
    };
  }

  static FlexRule both(FlexRule a, FlexRule b) {
    return new FlexRule() {
      @Override
      public boolean sees(int batch, int head, int query, int key) {
        return a.sees(batch, head, query, key) && b.sees(batch, head, query, key);
      }

      @Override
      public float score(float score, int batch, int head, int query, int key) {
        return b.score(a.score(score, batch, head, query, key), batch, head, query, key);
      }

      @Override
      public boolean changesScores() {
        return a.changesScores() || b.changesScores();
      }

      @Override
      public Coverage coverage(int batch, int head, int query, int queryEnd, int key, int keyEnd) {
        Coverage first = a.coverage(batch, head, query, queryEnd, key, keyEnd);
        if (first == Coverage.NONE) {
          return first;
        }
        Coverage second = b.coverage(batch, head, query, queryEnd, key, keyEnd);
        return first == Coverage.ALL || second == Coverage.NONE ? second : first;
      }
    };
  }
}

package io.steelyard.kernels.attention;

import static io.steelyard.kernels.attention.Definitions.DIMENSION;
import static io.steelyard.kernels.attention.Definitions.OPEN;
import static io.steelyard.kernels.attention.Definitions.kept;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.StridedRows;
import io.steelyard.kernels.attention.Definitions.Definition;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a query sees that is drawn, or chosen by queries and keys, is what the variant's definition
 * says: recomputed in double precision where it says what, and otherwise what must hold of it.
 */
final class ChosenDefinitionsTest {
  /** A score in float32 is a sum of 8 terms under 1.1: 8 roundings of at most 8.5 · 2⁻²⁴. */
  private static final double ROUNDING = 4e-6;

  /** Which of some numbers are chosen: 1, 0 or {@link Definitions#OPEN} for each. */
  @FunctionalInterface
  private interface Choice {
    int[] of(double[] numbers);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "block-sparse:pattern=random,density=0.3,block=24",
        "block-sparse:pattern=random,density=0.04,block=5",
        "block-sparse:pattern=adaptive,density=0.3,block=24",
        "sparse:pattern=random,ratio=0.7,block=16",
        "sparse:pattern=random,ratio=0,block=16",
        "sparse:pattern=block-sparse,ratio=0.7,block=16",
        "sparse:pattern=strided,ratio=0.9,block=9",
        "sparse:pattern=local-global,ratio=0.7,block=16"
      })
  void theOwnBlockAndAsManyAsAreAskedForAreSeen(String spelling) {
    int block = (int) number("block", spelling);
    double share =
        spelling.contains("ratio") ? 1 - number("ratio", spelling) : number("density", spelling);
    Definitions.onInputs(
        inputs -> {
          AttentionShape shape = inputs.shape();
          boolean[][] seen = Definitions.seen(spelling, inputs, shape.heads() - 1);
          boolean[][] blocks = Definitions.byBlocks(seen, shape.causal(), block);
          for (int own = 0; own < blocks.length; own++) {
            boolean[] row = blocks[own];
            assertThat(row[own]).as("%s: block %d sees itself", shape, own).isTrue();
            assertThat(IntStream.range(0, row.length).filter(other -> row[other]))
                .as("%s: what block %d sees", shape, own)
                .hasSize(kept(share, shape.causal() ? own + 1 : blocks.length));
          }
        });
  }

  private static double number(String parameter, String spelling) {
    Matcher found = Pattern.compile(parameter + "=([0-9.]+)").matcher(spelling);
    assertThat(found.find()).as("%s in %s", parameter, spelling).isTrue();
    return Double.parseDouble(found.group(1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "block-sparse:pattern=random,density=0.3,block=16",
        "sparse:pattern=random,ratio=0.7,block=16"
      })
  void aRandomPatternIsThatOfItsSeed(String spelling) {
    Definitions.onInputs(
        inputs -> {
          boolean[][] usual = Definitions.seen(spelling, inputs, 0);

          assertThat(Definitions.seen(spelling + ",seed=1", inputs, 0)).isDeepEqualTo(usual);
          if (inputs.shape().length() >= 300) {
            boolean[][] other = Definitions.seen(spelling + ",seed=2", inputs, 0);
            assertThat(Arrays.deepEquals(other, usual)).isFalse();
          }
        });
  }

  /** The own block, and those whose mean key has the largest product with the own mean query. */
  @ParameterizedTest
  @CsvSource({"0.3, 24", "0.1, 7", "1, 128"})
  void adaptiveBlocksAreThoseOfTheLargestMeans(double density, int block) {
    Definitions.check(
        "block-sparse:pattern=adaptive,density=%s,block=%d".formatted(density, block),
        inputs -> {
          AttentionShape shape = inputs.shape();
          int[][][] chosen = new int[shape.batch() * shape.heads()][][];
          for (int i = 0; i < chosen.length; i++) {
            double[][] queries = queries(inputs, i / shape.heads(), i % shape.heads());
            double[][] keys = keys(inputs, i / shape.heads(), i % shape.heads());
            chosen[i] =
                adaptive(means(queries, block), means(keys, block), density, shape.causal());
          }
          return (batch, head, query, key) ->
              chosen[batch * shape.heads() + head][query / block][key / block];
        });
  }

  private static int[][] adaptive(
      double[][] queries, double[][] keys, double density, boolean causal) {
    int[][] chosen = new int[queries.length][];
    for (int own = 0; own < chosen.length; own++) {
      double[] query = queries[own];
      int visible = causal ? own + 1 : keys.length;
      double[] products =
          Arrays.stream(keys, 0, visible).mapToDouble(key -> product(query, key)).toArray();
      products[own] = Double.POSITIVE_INFINITY;
      chosen[own] = largest(products, kept(density, visible));
    }
    return chosen;
  }

  private static double[][] means(double[][] rows, int block) {
    double[][] means = new double[Definitions.blocks(rows.length, block)][DIMENSION];
    for (int i = 0; i < means.length; i++) {
      double[][] own = Arrays.copyOfRange(rows, i * block, Math.min(rows.length, (i + 1) * block));
      for (int d = 0; d < DIMENSION; d++) {
        int value = d;
        means[i][d] = Arrays.stream(own).mapToDouble(row -> row[value]).average().orElseThrow();
      }
    }
    return means;
  }

  private static double[][] queries(AttentionInputs inputs, int batch, int head) {
    return rows(inputs.queries(batch, head), inputs.shape().length());
  }

  /** Those that a head of queries meets: heads in order share heads of keys. */
  private static double[][] keys(AttentionInputs inputs, int batch, int head) {
    int kvHead = head * inputs.shape().kvHeads() / inputs.shape().heads();
    return rows(inputs.keys(batch, kvHead), inputs.shape().length());
  }

  private static double[][] rows(StridedRows rows, int count) {
    double[][] all = new double[count][DIMENSION];
    for (int row = 0; row < count; row++) {
      for (int d = 0; d < DIMENSION; d++) {
        all[row][d] = rows.get(row, d);
      }
    }
    return all;
  }

  private static double product(double[] a, double[] b) {
    double sum = 0;
    for (int d = 0; d < DIMENSION; d++) {
      sum += a[d] * b[d];
    }
    return sum;
  }

  /** The k largest; what rounding could exchange is open. */
  private static int[] largest(double[] of, int k) {
    double[] sorted = Arrays.stream(of).sorted().toArray();
    double least = sorted[sorted.length - k];
    double next = k == sorted.length ? Double.NEGATIVE_INFINITY : sorted[sorted.length - k - 1];
    return Arrays.stream(of)
        .mapToInt(v -> v > next + 2 * ROUNDING ? 1 : v < least - 2 * ROUNDING ? 0 : OPEN)
        .toArray();
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.9, 0.5, 0, 1})
  void theLargestScoresOfARowAreSeen(double ratio) {
    Definitions.check(
        "sparse:pattern=top-k,ratio=" + ratio,
        byScores(row -> largest(row, kept(1 - ratio, row.length))));
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.02, 0.5})
  void theScoresOfASharesAttentionAreSeen(double share) {
    Definitions.check("sparse:pattern=top-k,share=" + share, byScores(row -> ofShare(row, share)));
  }

  /** Those that have so much of the softmax, and the largest. */
  private static int[] ofShare(double[] scores, double share) {
    double most = DoubleStream.of(scores).max().orElseThrow();
    double all = DoubleStream.of(scores).map(score -> Math.exp(score - most)).sum();
    double least = Math.min(most, most + Math.log(share * all));
    return DoubleStream.of(scores)
        .mapToInt(v -> v < most && Math.abs(v - least) < 2 * ROUNDING ? OPEN : v >= least ? 1 : 0)
        .toArray();
  }

  private static Definition byScores(Choice choice) {
    return inputs -> {
      AttentionShape shape = inputs.shape();
      int[][][] chosen = new int[shape.batch() * shape.heads()][][];
      for (int i = 0; i < chosen.length; i++) {
        chosen[i] =
            Arrays.stream(scores(inputs, i / shape.heads(), i % shape.heads()))
                .map(choice::of)
                .toArray(int[][]::new);
      }
      return (batch, head, query, key) -> chosen[batch * shape.heads() + head][query][key];
    };
  }

  /** Scores of each query with the keys that causality leaves. */
  private static double[][] scores(AttentionInputs inputs, int batch, int head) {
    double[][] queries = queries(inputs, batch, head);
    double[][] keys = keys(inputs, batch, head);
    return IntStream.range(0, queries.length)
        .mapToObj(
            query ->
                Arrays.stream(keys, 0, inputs.shape().causal() ? query + 1 : keys.length)
                    .mapToDouble(key -> product(queries[query], key) / Math.sqrt(DIMENSION))
                    .toArray())
        .toArray(double[][]::new);
  }

  /**
   * Of a head's keys those are seen that reach one threshold, the largest of them where a row has
   * more than its density allows, and one where none does. The threshold is a quantile of the
   * head's scores, estimated from 4,096 of them: five standard errors are allowed.
   */
  @ParameterizedTest
  @CsvSource({"0.7, 1, 16", "0.7, 2, 16", "0.9, 2, 5", "0.95, 1, 300", "0.5, 3, 16"})
  void aThresholdIsOneOfItsHead(double ratio, double slack, int block) {
    String spelling =
        "sparse:pattern=dynamic-threshold,ratio=%s,slack=%s,block=%d"
            .formatted(ratio, slack, block);
    double share = slack * (1 - ratio);
    double error = 5 * Math.sqrt(share * Math.max(0, 1 - share) / 4096);
    Definitions.onInputs(
        inputs -> {
          for (int head = 0; head < inputs.shape().heads(); head++) {
            String where = "%s, head %d".formatted(inputs.shape(), head);
            double[][] scores = scores(inputs, 0, head);
            boolean[][] seen = Definitions.seen(spelling, inputs, head);
            Cut cut = cut(scores, seen, 1 - ratio, where);
            if (inputs.shape().length() >= 300 && share < 1) {
              assertThat(reaching(scores, cut.atMost())).as(where).isLessThan(share + error);
              assertThat(reaching(scores, cut.above())).as(where).isGreaterThan(share - error);
            }
          }
        });
  }

  /** A threshold lies above the one score, and is at most the other. */
  private record Cut(double above, double atMost) {}

  private static Cut cut(double[][] scores, boolean[][] seen, double density, String where) {
    double above = Double.NEGATIVE_INFINITY;
    double atMost = Double.POSITIVE_INFINITY;
    for (int query = 0; query < scores.length; query++) {
      double[] row = scores[query];
      boolean[] keys = seen[query];
      int count = (int) IntStream.range(0, row.length).filter(key -> keys[key]).count();
      double least = Double.POSITIVE_INFINITY;
      double largestHidden = Double.NEGATIVE_INFINITY;
      for (int key = 0; key < row.length; key++) {
        if (keys[key]) {
          least = Math.min(least, row[key]);
        } else {
          largestHidden = Math.max(largestHidden, row[key]);
        }
      }
      int most = kept(density, row.length);
      assertThat(count).as("%s: keys of query %d", where, query).isBetween(1, most);
      boolean areLargest = least > largestHidden - 2 * ROUNDING;
      // One alone may be what is left to a row in which none reaches the threshold.
      assertThat(count == 1 || areLargest)
          .as("%s: query %d sees its largest scores", where, query)
          .isTrue();
      if (count < most || !areLargest) {
        above = Math.max(above, largestHidden);
      }
      if (count > 1) {
        atMost = Math.min(atMost, least);
      }
    }
    assertThat(above).as(where).isLessThan(atMost + 2 * ROUNDING);
    return new Cut(above, atMost);
  }

  /** The share of scores that are at least so large. */
  private static double reaching(double[][] scores, double least) {
    return Arrays.stream(scores)
        .flatMapToDouble(Arrays::stream)
        .map(score -> score >= least ? 1 : 0)
        .average()
        .orElseThrow();
  }

  /** All heads of a sequence share one density. */
  @Test
  void theScorersBlocksAreTheOwnTheFirstAndAShareOfThePairs() {
    int block = 8;
    Definitions.onInputs(
        inputs -> {
          AttentionShape shape = inputs.shape();
          long pairs = 0;
          for (int head = 0; head < shape.heads(); head++) {
            boolean[][] seen =
                Definitions.seen("sparse:pattern=learned,ratio=0.7,block=" + block, inputs, head);
            boolean[][] blocks = Definitions.byBlocks(seen, shape.causal(), block);
            for (int own = 0; own < blocks.length; own++) {
              assertThat(blocks[own][own]).as("%s: block %d sees itself", shape, own).isTrue();
              assertThat(blocks[own][0]).as("%s: block %d sees the first", shape, own).isTrue();
            }
            for (boolean[] row : seen) {
              pairs += IntStream.range(0, row.length).filter(key -> row[key]).count();
            }
          }
          if (shape.length() >= 300) {
            assertThat((double) pairs / shape.scores())
                .as("density in %s", shape)
                .isBetween(0.29, 0.3);
          }
        });
  }

  /** Of the kept blocks' keys those that have a share of the attention that these blocks get. */
  @Test
  void theScorersKeysAreThoseOfLargeSharesInItsBlocks() {
    String blocks = "sparse:pattern=learned,share=0.02,block=8";
    Definitions.onInputs(
        inputs -> {
          AttentionShape shape = inputs.shape();
          int head = shape.heads() - 1;
          boolean[][] candidates = Definitions.seen(blocks, inputs, head);
          boolean[][] seen = Definitions.seen(blocks + ",keys=0.02", inputs, head);
          double[][] scores = scores(inputs, 0, head);
          for (int query = 0; query < shape.length(); query++) {
            boolean[] row = candidates[query];
            double[] all = scores[query];
            int[] keys = IntStream.range(0, row.length).filter(key -> row[key]).toArray();
            int[] chosen =
                ofShare(Arrays.stream(keys).mapToDouble(key -> all[key]).toArray(), 0.02);
            int[] expected = new int[row.length];
            for (int i = 0; i < keys.length; i++) {
              expected[keys[i]] = chosen[i];
            }
            for (int key = 0; key < row.length; key++) {
              if (expected[key] != OPEN) {
                assertThat(seen[query][key])
                    .as("%s: query %d, key %d", shape, query, key)
                    .isEqualTo(expected[key] == 1);
              }
            }
          }
        });
  }
}

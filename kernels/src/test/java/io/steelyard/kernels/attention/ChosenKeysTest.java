package io.steelyard.kernels.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Patterns that look at queries and keys choose what they say they choose. */
final class ChosenKeysTest {
  private static final AttentionShape SHAPE = new AttentionShape(1, 300, 4, 2, 16, true);

  /** What a variant saw and computed of inputs. */
  private record Seen(boolean[][][] keys, double executed, double mass) {
    double density() {
      long seen = 0;
      for (boolean[][] head : keys) {
        for (boolean[] row : head) {
          seen += IntStream.range(0, row.length).filter(key -> row[key]).count();
        }
      }
      return (double) seen / SHAPE.scores();
    }
  }

  private static Seen seen(String spelling) {
    try (Arena arena = Arena.ofShared();
        Workbench workbench =
            new Workbench(Kernels.best(), 2, MemoryPool.pooled(), new PatternCache(4))) {
      AttentionInputs inputs = inputs(arena);
      AttentionOutputs outputs = AttentionOutputs.allocate(arena, SHAPE, DataType.F32);
      try (Plan plan = Variants.of(spelling).plan(inputs, workbench)) {
        plan.run(outputs);
        boolean[][][] keys = new boolean[SHAPE.heads()][SHAPE.length()][SHAPE.length()];
        for (int head = 0; head < keys.length; head++) {
          for (int query = 0; query < SHAPE.length(); query++) {
            for (int key = 0; key < SHAPE.length(); key++) {
              keys[head][query][key] = plan.times(0, head, query, key) > 0;
            }
          }
        }
        double mass =
            KeptMass.of(inputs, plan).stream().mapToDouble(KeptMass::mass).average().orElseThrow();
        return new Seen(keys, (double) workbench.counts().scores() / SHAPE.scores(), mass);
      }
    }
  }

  /** Random inputs whose neighbours are alike, as those of texts are, and so are their scores. */
  private static AttentionInputs inputs(Arena arena) {
    AttentionInputs inputs = RandomInputs.of(arena, SHAPE, DataType.F32, 5);
    smooth(inputs, SHAPE.heads(), true);
    smooth(inputs, SHAPE.kvHeads(), false);
    return inputs;
  }

  private static void smooth(AttentionInputs inputs, int heads, boolean queries) {
    float[] row = new float[SHAPE.dimension()];
    for (int head = 0; head < heads; head++) {
      var rows = queries ? inputs.queries(0, head) : inputs.keys(0, head);
      for (int position = 1; position < SHAPE.length(); position++) {
        for (int d = 0; d < row.length; d++) {
          row[d] = 0.95f * rows.get(position - 1, d) + 0.6f * rows.get(position, d);
        }
        rows.put(position, row);
      }
    }
  }

  private static double score(AttentionInputs inputs, int head, int query, int key) {
    double product = 0;
    for (int d = 0; d < SHAPE.dimension(); d++) {
      product +=
          (double) inputs.queries(0, head).get(query, d)
              * inputs.keys(0, head / SHAPE.group()).get(key, d);
    }
    return product * SHAPE.scale();
  }

  @Test
  void theLargestScoresOfEachRowAreKept() {
    Seen seen = seen("sparse:pattern=top-k,ratio=0.9");

    try (Arena arena = Arena.ofShared()) {
      AttentionInputs inputs = inputs(arena);
      for (int query : new int[] {0, 7, 150, 299}) {
        int row = query;
        int most = BlockSparse.kept(0.1, query + 1);
        double[] scores =
            IntStream.rangeClosed(0, query)
                .mapToDouble(key -> score(inputs, 1, row, key))
                .toArray();
        double[] sorted = Arrays.stream(scores).sorted().toArray();
        for (int key = 0; key <= query; key++) {
          assertThat(seen.keys()[1][query][key])
              .as("query %d, key %d", query, key)
              .isEqualTo(scores[key] >= sorted[sorted.length - most]);
        }
      }
    }
  }

  @Test
  void aThresholdLeavesEveryRowAKeyAndNoneTooMany() {
    Seen seen = seen("sparse:pattern=dynamic-threshold,ratio=0.8,slack=1");

    for (boolean[][] head : seen.keys()) {
      for (int query = 0; query < SHAPE.length(); query++) {
        boolean[] row = head[query];
        assertThat(IntStream.range(0, row.length).filter(key -> row[key]).count())
            .as("query %d", query)
            .isBetween(1L, (long) BlockSparse.kept(0.2, query + 1));
      }
    }
    assertThat(seen.executed()).isGreaterThan(seen.density());
  }

  @Test
  void blocksUnderTheThresholdAreNotComputed() {
    assertThat(scoresByThreshold(4)).isLessThan(0.8 * scoresByThreshold(300));
  }

  /** What is executed with bounds of blocks of a size, but for the bounds themselves. */
  private static double scoresByThreshold(int block) {
    long bounds = 0;
    for (int query = 0; query < SHAPE.length(); query++) {
      bounds += (long) BlockBounds.PRODUCTS * SHAPE.heads() * Math.ceilDiv(query + 1, block);
    }
    String spelling = "sparse:pattern=dynamic-threshold,ratio=0.95,slack=1,block=" + block;
    return seen(spelling).executed() - (double) bounds / SHAPE.scores();
  }

  @Test
  void boundsHold() {
    SplittableRandom random = new SplittableRandom(3);
    try (Arena arena = Arena.ofShared()) {
      AttentionInputs inputs = inputs(arena);
      KeyColumns keys = KeyColumns.of(inputs.keys(0, 1), SHAPE.length(), SHAPE.dimension());
      BlockBounds bounds = BlockBounds.of(keys, 7);
      float[] bound = new float[bounds.blocks()];
      float[] query = new float[SHAPE.dimension()];
      float[] products = new float[SHAPE.length()];
      for (int i = 0; i < 50; i++) {
        KeyColumns.scaled(inputs.queries(0, 3), random.nextInt(300), 1, query);
        keys.products(query, 0, SHAPE.length(), products);
        bounds.of(query, bound.length, bound);
        for (int key = 0; key < products.length; key++) {
          assertThat(products[key]).as("key %d", key).isLessThanOrEqualTo(bound[key / 7]);
        }
      }
    }
  }

  @Test
  void theKthLargestIsFound() {
    SplittableRandom random = new SplittableRandom(4);
    for (int i = 0; i < 200; i++) {
      boolean many = i % 4 == 0;
      int count = 1 + random.nextInt(many ? 3000 : 50);
      float[] values = new float[count];
      for (int j = 0; j < count; j++) {
        values[j] = many ? (float) random.nextGaussian() : random.nextInt(20) - 10;
      }
      float[] sorted = values.clone();
      Arrays.sort(sorted);
      int k = 1 + random.nextInt(count);
      assertThat(TopKeys.largest(values, count, k)).isEqualTo(sorted[count - k]);
    }
  }

  @Test
  void aLearnedPatternKeepsItsDensityAndMoreAttentionThanOthers() {
    Seen learned = seen("block-sparse:pattern=learned,density=0.3,block=8");

    assertThat(learned.density()).isBetween(0.28, 0.3);
    assertThat(learned.mass())
        .isGreaterThan(seen("block-sparse:pattern=adaptive,density=0.3,block=8").mass())
        .isGreaterThan(1.5 * seen("block-sparse:pattern=random,density=0.3,block=8").mass());
  }

  @Test
  void trainingFindsWhatForeseesAttention() {
    try (Arena arena = Arena.ofShared()) {
      ScorerTraining training = new ScorerTraining();
      AttentionInputs inputs = inputs(arena);
      training.add(inputs, 8);
      ScorerTraining.Result result = training.fit();

      assertThat(result.explained()).isBetween(0.8, 1.0);
      String text = result.scorer().text();
      assertThat(BlockScorer.parse("again", text).text()).isEqualTo(text);
      assertThat(training.pairs()).isPositive();
    }
  }

  @Test
  void weightsThatAreNoneAreRefused(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("scorer.properties");
    for (String wrong : List.of("", "mean_query=1", BlockScorer.shipped().text() + "other=1")) {
      Files.writeString(file, wrong);
      assertThatThrownBy(() -> Variants.of("sparse:pattern=learned,scorer=" + file))
          .hasMessageContaining("must have a weight for each of constant, mean_query");
    }
    Files.writeString(
        file, BlockScorer.shipped().text().replaceFirst("constant=.*", "constant=NaN"));
    assertThatThrownBy(() -> Variants.of("sparse:pattern=learned,scorer=" + file))
        .hasMessageContaining("constant=NaN is no weight");
    assertThatThrownBy(() -> Variants.of("sparse:pattern=learned,scorer=nowhere"))
        .hasMessageContaining("there is no file of weights");
    Files.writeString(file, BlockScorer.shipped().text());
    assertThat(Variants.of("sparse:pattern=learned,scorer=" + file)).isNotNull();
  }
}

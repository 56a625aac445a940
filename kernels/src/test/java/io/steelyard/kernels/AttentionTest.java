package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A fast tier's attention against the reference tier. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class AttentionTest {
  /**
   * Values are in -1…1 and weights sum to 1, so an error is one of weights: of a score (a sum of up
   * to 128 products, times e^score's slope), of exp (2e-7) and of the sums over positions.
   */
  private static final double TOLERANCE = 1e-5;

  private static final List<DataType> TYPES = List.of(DataType.F32, DataType.F16, DataType.Q8_0);

  private static final AttentionRule RULE = new AttentionRule(0.125f, 0, 1000, true);

  private final Kernels reference = Kernels.of(Tier.REFERENCE, 2);
  private final Kernels fast;
  private final KernelsMaker made;
  private final long work;

  AttentionTest(Tier tier) {
    this(KernelsMaker.of(tier));
  }

  AttentionTest(KernelsMaker made) {
    this(made, Long.MAX_VALUE);
  }

  /**
   * Begins.
   *
   * @param work the most multiplications of a score that a shape may need to be tested
   */
  AttentionTest(KernelsMaker made, long work) {
    this.made = made;
    this.work = work;
    fast = made.make(2, false);
  }

  /** The largest error allowed. */
  double tolerance(DataType type, int tokens) {
    return TOLERANCE;
  }

  @AfterAll
  void close() {
    reference.close();
    fast.close();
  }

  record Shape(int kvHeads, int group, int dimension, int earlier, int tokens) {
    long work() {
      return (long) kvHeads * group * dimension * tokens * (earlier + tokens);
    }
  }

  private static final List<Shape> SHAPES =
      List.of(
          new Shape(1, 1, 64, 0, 1),
          new Shape(3, 3, 64, 0, 1),
          new Shape(3, 3, 64, 63, 1),
          new Shape(3, 3, 64, 64, 1),
          new Shape(2, 4, 8, 299, 1),
          new Shape(2, 4, 8, 130, 3),
          new Shape(1, 1, 7, 5, 4),
          new Shape(3, 3, 64, 0, 5),
          new Shape(3, 3, 64, 0, 130),
          new Shape(3, 3, 64, 77, 40),
          new Shape(2, 4, 8, 0, 64),
          new Shape(3, 2, 12, 1, 129),
          new Shape(1, 7, 80, 100, 33),
          new Shape(1, 1, 7, 0, 50),
          new Shape(2, 1, 128, 47, 49),
          new Shape(2, 4, 64, 2500, 1),
          new Shape(2, 4, 64, 2045, 7),
          new Shape(1, 2, 64, 1020, 16),
          new Shape(1, 3, 64, 900, 300));

  private Stream<Shape> shapes() {
    return SHAPES.stream().filter(shape -> shape.work() <= work);
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void attentionAgrees(Shape shape) {
    for (DataType type : TYPES) {
      if (shape.dimension % type.blockSize() > 0) {
        continue;
      }
      try (Arena arena = Arena.ofShared()) {
        for (AttentionRule rule :
            rules(shape.dimension, shape.earlier + shape.tokens + 2 * TYPES.indexOf(type))) {
          Rows expected = attend(reference, arena, type, shape, rule);
          Rows actual = attend(fast, arena, type, shape, rule);
          for (int token = 0; token < shape.tokens; token++) {
            for (int i = 0; i < expected.width(); i++) {
              assertThat(Math.abs((double) expected.get(token, i) - actual.get(token, i)))
                  .as("%s cache, %s, token %d, column %d", type, rule, token, i)
                  .isLessThanOrEqualTo(tolerance(type, shape.tokens));
            }
          }
        }
      }
    }
  }

  /** The usual rule, and one of the others: each shape and type meets another one. */
  private static List<AttentionRule> rules(int dimension, int which) {
    float scale = (float) (1 / Math.sqrt(dimension));
    List<AttentionRule> others =
        List.of(
            new AttentionRule(scale, 0, 0, false),
            new AttentionRule(scale, 0, 1, true),
            new AttentionRule(scale, 0, 37, true),
            new AttentionRule(scale, 0.5f, 0, true),
            new AttentionRule(scale, 1, 600, true));
    return List.of(AttentionRule.causal(scale), others.get(which % others.size()));
  }

  @Test
  void theNumberOfThreadsChangesNoBit() {
    AttentionRule rule = AttentionRule.causal(0.125f);
    for (int tokens : new int[] {1, 70}) {
      Shape shape = new Shape(3, 3, 64, 150, tokens);
      try (Arena arena = Arena.ofShared()) {
        Rows expected = attend(fast, arena, DataType.F16, shape, rule);
        for (int threads : new int[] {1, 3}) {
          try (Kernels other = made.make(threads, false)) {
            Rows actual = attend(other, arena, DataType.F16, shape, rule);
            for (int token = 0; token < tokens; token++) {
              assertThat(actual.row(token).mismatch(expected.row(token))).isEqualTo(-1);
            }
          }
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 7, 16})
  void fewTokensGiveTheBitsOfSingleTokens(int few) {
    // The parts in which few tokens take the positions end at 1024.
    int earlier = 1021;
    try (Arena arena = Arena.ofShared()) {
      RandomData data = new RandomData(arena, 8);
      KeyValues cache =
          fast.keyValues(arena, new KeyValues.Shape(DataType.F16, 2, 64, earlier + few));
      Rows rows = data.rows(earlier + few, 128, 128);
      fast.store(cache, rows, rows, 0, earlier + few);
      Rows queries = data.rows(few, 256, 256);
      Rows together = Rows.allocate(arena, few, 256);
      Rows single = Rows.allocate(arena, few, 256);
      fast.attention(queries, cache, earlier, RULE, together, few);
      for (int token = 0; token < few; token++) {
        fast.attention(queries.from(token), cache, earlier + token, RULE, single.from(token), 1);
      }
      assertThat(together.data().mismatch(single.data())).isEqualTo(-1);
    }
  }

  @Test
  void noTokensChangeNothing() {
    for (Kernels kernels : List.of(reference, fast)) {
      for (DataType type : TYPES) {
        try (Arena arena = Arena.ofShared()) {
          RandomData data = new RandomData(arena, 16);
          KeyValues cache = kernels.keyValues(arena, new KeyValues.Shape(type, 2, 32, 40));
          Rows rows = data.rows(40, 64, 64);
          kernels.store(cache, rows, rows, 0, 40);
          Rows queries = data.rows(3, 128, 130);
          Rows expected = Rows.allocate(arena, 3, 128);
          kernels.attention(queries, cache, 37, RULE, expected, 3);
          Rows out = data.rows(2, 128, 130);
          byte[] before = out.data().toArray(ValueLayout.JAVA_BYTE);

          // At both ends, with rows that aren't asked for, and without any.
          for (int position : new int[] {0, 37, 40}) {
            kernels.attention(queries, cache, position, RULE, out, 0);
            kernels.attention(queries.from(3), cache, position, RULE, out.from(2), 0);
            kernels.replace(cache, rows, rows, position, 0, 40);
          }
          kernels.store(cache, rows.from(40), rows.from(40), 40, 0);

          assertThat(out.data().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
          Rows actual = Rows.allocate(arena, 3, 128);
          kernels.attention(queries, cache, 37, RULE, actual, 3);
          assertThat(actual.data().mismatch(expected.data())).as("%s", type).isEqualTo(-1);
        }
      }
    }
  }

  @Test
  void sequencesOfNoTokensAreRefused() {
    for (Kernels kernels : List.of(reference, fast)) {
      try (Arena arena = Arena.ofShared()) {
        KeyValues cache = kernels.keyValues(arena, new KeyValues.Shape(DataType.F16, 1, 32, 8));
        Rows rows = new RandomData(arena, 17).rows(2, 32, 32);
        kernels.store(cache, rows, rows, 0, 2);
        Rows out = Rows.allocate(arena, 2, 32);
        List<Sequence> sequences =
            List.of(new Sequence(cache, 0, 1, 1), new Sequence(cache, 1, 0, 1));
        assertThatThrownBy(() -> kernels.attention(rows, sequences, RULE, out))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("sequence 1 has 0 tokens where at least 1 is needed");
        assertThatThrownBy(() -> kernels.replace(sequences, rows, rows))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("sequence 1 has 0 tokens where at least 1 is needed");
        assertThatThrownBy(() -> kernels.attention(rows, List.of(), RULE, out))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("no sequence where at least 1 is needed");
        assertThatThrownBy(() -> kernels.replace(List.of(), rows, rows))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("no sequence where at least 1 is needed");
      }
    }
  }

  private record Sequence(KeyValues keyValues, int position, int tokens, int end)
      implements CachedSpan {
    @Override
    public int queriesFrom() {
      return end - tokens;
    }
  }

  @Test
  void severalSequencesAreStoredAsEachAlone() {
    // One at the beginning, one across groups of positions, one that has others behind it.
    int[] position = {0, 30, 40, 95};
    int[] tokens = {1, 5, 2, 1};
    int[] end = {1, 35, 45, 96};
    for (DataType type : List.of(DataType.F32, DataType.F16, DataType.Q8_0)) {
      try (Arena arena = Arena.ofShared()) {
        RandomData data = new RandomData(arena, 15);
        Rows keys = data.rows(9, 128, 160);
        Rows values = data.rows(9, 128, 128);
        Rows earlier = data.rows(96, 128, 128);
        List<Sequence> together = new ArrayList<>();
        List<Sequence> alone = new ArrayList<>();
        int row = 0;
        for (int i = 0; i < position.length; i++) {
          for (List<Sequence> sequences : List.of(together, alone)) {
            KeyValues cache = fast.keyValues(arena, new KeyValues.Shape(type, 2, 64, 96));
            fast.store(cache, earlier, earlier, 0, 96);
            sequences.add(new Sequence(cache, position[i], tokens[i], end[i]));
          }
          KeyValues cache = alone.getLast().keyValues();
          fast.replace(cache, keys.from(row), values.from(row), position[i], tokens[i], end[i]);
          row += tokens[i];
        }
        fast.replace(together, keys, values);
        Rows queries = data.rows(9, 384, 384);
        Rows expected = Rows.allocate(arena, 9, 384);
        Rows actual = Rows.allocate(arena, 9, 384);
        fast.attention(queries, alone, RULE, expected);
        fast.attention(queries, together, RULE, actual);
        assertThat(actual.data().mismatch(expected.data())).isEqualTo(-1);
        fast.replace(together, values, values);
        fast.attention(queries, together, RULE, actual);
        assertThat(actual.data().mismatch(expected.data())).isNotEqualTo(-1);
      }
    }
  }

  @Test
  void severalSequencesTogetherGetTheBitsOfEachAlone() {
    // One alone, one of several tokens across the parts' border, one with a single position.
    int[] earlier = {70, 1022, 0, 1100};
    int[] tokens = {1, 3, 1, 1};
    for (DataType type : List.of(DataType.F32, DataType.F16, DataType.Q8_0)) {
      for (int window : new int[] {1000, 50}) {
        AttentionRule rule = new AttentionRule(0.125f, 0, window, true);
        try (Arena arena = Arena.ofShared()) {
          RandomData data = new RandomData(arena, 14);
          List<Sequence> sequences = new ArrayList<>();
          for (int i = 0; i < earlier.length; i++) {
            int all = earlier[i] + tokens[i];
            KeyValues cache = fast.keyValues(arena, new KeyValues.Shape(type, 2, 64, all));
            Rows rows = data.rows(all, 128, 128);
            fast.store(cache, rows, rows, 0, all);
            sequences.add(new Sequence(cache, earlier[i], tokens[i], all));
          }
          Rows queries = data.rows(6, 384, 384);
          Rows together = Rows.allocate(arena, 6, 384);
          Rows alone = Rows.allocate(arena, 6, 384);
          fast.attention(queries, sequences, rule, together);
          int row = 0;
          for (Sequence each : sequences) {
            fast.attention(
                queries.from(row),
                each.keyValues(),
                each.queriesFrom(),
                rule,
                alone.from(row),
                each.tokens());
            row += each.tokens();
          }
          assertThat(together.data().mismatch(alone.data())).isEqualTo(-1);
        }
      }
    }
  }

  @Test
  void deterministicAttentionIsThatOfSingleTokens() {
    try (Arena arena = Arena.ofShared();
        Kernels deterministic = made.make(2, true)) {
      RandomData data = new RandomData(arena, 12);
      KeyValues cache = fast.keyValues(arena, new KeyValues.Shape(DataType.F16, 2, 64, 1030));
      Rows rows = data.rows(1030, 128, 128);
      fast.store(cache, rows, rows, 0, 1030);
      Rows queries = data.rows(20, 256, 256);
      Rows together = Rows.allocate(arena, 20, 256);
      Rows single = Rows.allocate(arena, 20, 256);
      deterministic.attention(queries, cache, 1010, RULE, together, 20);
      for (int token = 0; token < 20; token++) {
        fast.attention(queries.from(token), cache, 1010 + token, RULE, single.from(token), 1);
      }
      assertThat(together.data().mismatch(single.data())).isEqualTo(-1);
    }
  }

  @Test
  void whatAnEarlierSequenceLeftDoesNotMatter() {
    for (DataType type : List.of(DataType.F32, DataType.F16, DataType.Q8_0)) {
      for (int tokens : new int[] {5, 37}) {
        try (Arena arena = Arena.ofShared()) {
          RandomData data = new RandomData(arena, 9);
          KeyValues cache = fast.keyValues(arena, new KeyValues.Shape(type, 1, 32, 80));
          Rows infinite = data.rows(80, 32, 32);
          for (int token = 0; token < 80; token++) {
            infinite.set(token, 3, Float.POSITIVE_INFINITY);
          }
          fast.store(cache, infinite, infinite, 0, 80);
          Rows rows = data.rows(tokens, 32, 32);
          fast.store(cache, rows, rows, 0, tokens);
          Rows out = Rows.allocate(arena, tokens, 32);
          fast.attention(rows, cache, 0, AttentionRule.causal(1), out, tokens);
          for (int token = 0; token < tokens; token++) {
            for (int i = 0; i < 32; i++) {
              assertThat(out.get(token, i)).isBetween(-1f, 1f);
            }
          }
        }
      }
    }
  }

  @Test
  void replacedPositionsLeaveThoseBehindThem() {
    AttentionRule both = new AttentionRule(0.25f, 0, 0, false);
    for (DataType type : List.of(DataType.F32, DataType.F16, DataType.Q8_0)) {
      try (Arena arena = Arena.ofShared()) {
        RandomData data = new RandomData(arena, 21);
        KeyValues cache = fast.keyValues(arena, new KeyValues.Shape(type, 1, 32, 40));
        Rows rows = data.rows(35, 32, 32);
        fast.store(cache, rows, rows, 0, 35);
        Rows before = Rows.allocate(arena, 35, 32);
        fast.attention(rows, cache, 0, both, before, 35);
        fast.replace(cache, rows.from(9), rows.from(9), 9, 10, 35);
        Rows after = Rows.allocate(arena, 35, 32);
        fast.attention(rows, cache, 0, both, after, 35);
        assertThat(after.data().mismatch(before.data())).as("%s", type).isEqualTo(-1);
      }
    }
  }

  @Test
  void overwrittenPositionsAreForgotten() {
    for (Kernels kernels : List.of(reference, fast)) {
      try (Arena arena = Arena.ofShared()) {
        RandomData data = new RandomData(arena, 1);
        KeyValues cache = kernels.keyValues(arena, new KeyValues.Shape(DataType.F32, 1, 16, 20));
        Rows large = data.rows(20, 16, 16);
        for (int token = 0; token < 20; token++) {
          large.set(token, 3, 1000);
        }
        kernels.store(cache, large, large, 0, 20);
        Rows keys = data.rows(6, 16, 16);
        Rows values = data.rows(6, 16, 16);
        kernels.store(cache, keys, values, 0, 6);
        Rows out = Rows.allocate(arena, 6, 16);

        kernels.attention(data.rows(6, 16, 16), cache, 0, AttentionRule.causal(1), out, 6);

        for (int token = 0; token < 6; token++) {
          for (int i = 0; i < 16; i++) {
            assertThat(out.get(token, i)).isBetween(-1f, 1f);
          }
        }
      }
    }
  }

  @Test
  void sharpScoresStayFinite() {
    for (Kernels kernels : List.of(reference, fast)) {
      for (int tokens : new int[] {1, 60}) {
        try (Arena arena = Arena.ofShared()) {
          RandomData data = new RandomData(arena, 2);
          KeyValues cache = kernels.keyValues(arena, new KeyValues.Shape(DataType.F32, 1, 32, 60));
          Rows rows = data.rows(60, 32, 32);
          kernels.store(cache, rows, rows, 0, 60);
          Rows out = Rows.allocate(arena, tokens, 32);

          kernels.attention(
              rows.from(60 - tokens), cache, 60 - tokens, AttentionRule.causal(1000), out, tokens);

          // Among vectors of such size each is most like itself: its weight is 1.
          for (int token = 0; token < tokens; token++) {
            for (int i = 0; i < 32; i++) {
              assertThat(out.get(token, i)).isFinite();
            }
          }
        }
      }
    }
  }

  @Test
  void positionsBeyondTheCapacityAreRefused() {
    for (Kernels kernels : List.of(reference, fast)) {
      try (Arena arena = Arena.ofShared()) {
        KeyValues cache = kernels.keyValues(arena, new KeyValues.Shape(DataType.F16, 2, 8, 10));
        Rows rows = Rows.allocate(arena, 4, 16);
        assertThatThrownBy(() -> kernels.store(cache, rows, rows, 7, 4))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("positions 7 to 11 don't fit a KV cache of 10");
        assertThatThrownBy(
                () ->
                    kernels.attention(
                        Rows.allocate(arena, 1, 24), cache, 0, AttentionRule.causal(1), rows, 1))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("can't share 2 key-value heads");
      }
    }
  }

  /** Stores positions in two parts, then attends; operands depend on the arguments alone. */
  private static Rows attend(
      Kernels kernels, Arena arena, DataType type, Shape shape, AttentionRule rule) {
    int dimension = shape.dimension;
    int earlier = shape.earlier;
    int tokens = shape.tokens;
    int group = shape.group;
    RandomData data = new RandomData(arena, 31L * dimension + earlier + tokens);
    int width = shape.kvHeads * dimension;
    Rows keys = data.rows(earlier + tokens, width, width + 9);
    Rows values = data.rows(earlier + tokens, width, width + 9);
    Rows queries = data.rows(tokens, width * group, width * group + 9);
    Rows out = data.rows(tokens, width * group, width * group + 1);
    KeyValues cache =
        kernels.keyValues(
            arena, new KeyValues.Shape(type, shape.kvHeads, dimension, earlier + tokens));
    kernels.store(cache, keys, values, 0, earlier);
    kernels.store(cache, keys.from(earlier), values.from(earlier), earlier, tokens);
    kernels.attention(queries, cache, earlier, rule, out, tokens);
    return out;
  }
}

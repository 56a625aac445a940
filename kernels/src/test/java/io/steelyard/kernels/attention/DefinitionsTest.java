package io.steelyard.kernels.attention;

import static io.steelyard.kernels.attention.Definitions.OPEN;
import static io.steelyard.kernels.attention.Definitions.kept;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.attention.Definitions.Definition;
import io.steelyard.kernels.attention.Definitions.Times;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What a query sees of positions alone is what the variant's definition says. */
final class DefinitionsTest {
  private static final Map<String, Definition> DEFINITIONS = definitions();

  @FunctionalInterface
  private interface Pairs {
    boolean see(int query, int key);
  }

  @FunctionalInterface
  private interface Blocks {
    /**
     * How often a block of keys is seen.
     *
     * @param own the block of queries
     * @param visible how many blocks, from the first on, it could see
     */
    int times(int own, int other, int visible);

    /** What either sees. */
    default Blocks or(Blocks also) {
      return (own, other, visible) ->
          Math.max(times(own, other, visible), also.times(own, other, visible));
    }
  }

  static Set<String> spellings() {
    return DEFINITIONS.keySet();
  }

  @ParameterizedTest
  @MethodSource("spellings")
  void queriesSeeWhatTheDefinitionSays(String spelling) {
    Definitions.check(spelling, DEFINITIONS.get(spelling));
  }

  private static Map<String, Definition> definitions() {
    Map<String, Definition> all = new LinkedHashMap<>();
    for (String exact : List.of("dense", "flash", "ring", "ring:ranks=7", "differential")) {
      all.put(exact, pairs((_, _) -> true));
    }
    addDilated(all);
    addBlockSparse(all);
    addSparse(all);
    addFlex(all);
    return all;
  }

  private static void addDilated(Map<String, Definition> all) {
    int[][] usual = {{1024, 2048, 4096}, {1, 2, 4}};
    int[][] small = {{5, 16, 50}, {1, 3, 7}};
    int[][] large = {{16, 300, 1000, 64}, {2, 1, 6, 4}};
    for (String name :
        List.of("dilated", "improved-dilated", "ring-dilated-v2", "ring-dilated-v3")) {
      all.put(name, dilated(usual));
      all.put(name + ":segments=5/16/50,rates=1/3/7", dilated(small));
      all.put(name + ":segments=16/300/1000/64,rates=2/1/6/4", dilated(large));
    }
    all.put("longnet", longNet(usual));
    all.put("longnet:segments=5/16/50,rates=1/3/7", longNet(small));
    all.put("longnet:segments=16/300/1000/64,rates=2/1/6/4", longNet(large));
  }

  private static void addBlockSparse(Map<String, Definition> all) {
    all.put("block-sparse", blocks(128, near(1024, 128)));
    all.put("block-sparse:pattern=local-window,window=100,block=16", blocks(16, near(100, 16)));
    all.put("block-sparse:pattern=local-window,window=6,block=1", blocks(1, near(6, 1)));
    all.put("block-sparse:pattern=local-window,window=5,block=7", blocks(7, near(5, 7)));
    all.put("block-sparse:pattern=dilated-sparse", blocks(128, parallels(1, 2, 4)));
    all.put(
        "block-sparse:pattern=dilated-sparse,block=20,rates=2/5/7/11",
        blocks(20, parallels(2, 5, 7)));
    all.put(
        "block-sparse:pattern=global-local,block=32,window=64",
        blocks(32, near(64, 32).or((own, other, _) -> own < 1 || other < 1 ? 1 : 0)));
    all.put(
        "block-sparse:pattern=global-local,block=5,window=40,global=3",
        blocks(5, near(40, 5).or((own, other, _) -> own < 3 || other < 3 ? 1 : 0)));
    all.put("block-sparse:pattern=hierarchical", hierarchical(128));
    all.put("block-sparse:pattern=hierarchical,block=16", hierarchical(16));
    all.put("block-sparse:pattern=hierarchical,block=48", hierarchical(48));
    all.put(
        "block-sparse:pattern=strided",
        blocks(128, near(1024, 128).or((_, other, _) -> other % 8 == 0 ? 1 : 0)));
    all.put(
        "block-sparse:pattern=strided,block=7,window=20,stride=3",
        blocks(7, near(20, 7).or((_, other, _) -> other % 3 == 0 ? 1 : 0)));
  }

  private static void addSparse(Map<String, Definition> all) {
    all.put("sparse", blocks(128, nearest(0.9)));
    all.put("sparse:pattern=block-sparse,ratio=0.7,block=16", blocks(16, nearest(0.7)));
    all.put("sparse:pattern=strided,ratio=0.7,block=16", blocks(16, strided(0.7)));
    all.put("sparse:pattern=strided,ratio=0.9,block=9", blocks(9, strided(0.9)));
    all.put("sparse:pattern=local-global,ratio=0.7,block=16", blocks(16, localGlobal(0.7)));
    all.put("sparse:pattern=local-global,ratio=0.9,block=9", blocks(9, localGlobal(0.9)));
  }

  private static void addFlex(Map<String, Definition> all) {
    all.put("flex", pairs((query, key) -> key <= query));
    all.put("flex:rules=alibi", pairs((_, _) -> true));
    all.put("flex:rules=soft-cap", pairs((_, _) -> true));
    all.put("flex:rules=sliding-window", pairs((query, key) -> isIn(1024, query, key)));
    all.put("flex:rules=sliding-window,window=1", pairs((query, key) -> key == query));
    all.put("flex:rules=sliding-window,window=50", pairs((query, key) -> isIn(50, query, key)));
    all.put("flex:rules=document,document=60", pairs((query, key) -> query / 60 == key / 60));
    all.put("flex:rules=prefix,prefix=40", pairs((query, key) -> key < 40 || key <= query));
    all.put(
        "flex:rules=document/sliding-window/alibi,document=200,window=30",
        pairs((query, key) -> query / 200 == key / 200 && isIn(30, query, key)));
  }

  private static Definition pairs(Pairs pairs) {
    return _ -> (_, _, query, key) -> pairs.see(query, key) ? 1 : 0;
  }

  /** The query's own key and those just before it, so many in all. */
  private static boolean isIn(int window, int query, int key) {
    return key <= query && query - key < window;
  }

  /**
   * Heads are dealt to groups of a segment and a rate, the first {@code H mod G} groups get one
   * more; group i takes positions {@code i mod r}, {@code i mod r + r}, … of a segment.
   */
  private static Definition dilated(int[][] segmentsAndRates) {
    int[] segments = segmentsAndRates[0];
    int[] rates = segmentsAndRates[1];
    return inputs -> {
      int heads = inputs.shape().heads();
      int groups = segments.length;
      int[] groupOf =
          IntStream.range(0, groups)
              .flatMap(i -> IntStream.generate(() -> i).limit(headsOf(i, heads, groups)))
              .toArray();
      return (_, head, query, key) -> {
        int group = groupOf[head];
        int rate = rates[group];
        return attend(query, key, segments[group], rate, group % rate) ? 1 : 0;
      };
    };
  }

  private static int headsOf(int group, int heads, int groups) {
    return heads / groups + (group < heads % groups ? 1 : 0);
  }

  /**
   * Every head in every branch, with positions {@code ⌊j·r/H⌋} modulo r of a segment, H padded to a
   * multiple of r; a softmax over branches by their sums counts a key as often as branches see it.
   */
  private static Definition longNet(int[][] segmentsAndRates) {
    int[] segments = segmentsAndRates[0];
    int[] rates = segmentsAndRates[1];
    return inputs ->
        (_, head, query, key) -> {
          int times = 0;
          for (int branch = 0; branch < segments.length; branch++) {
            int rate = rates[branch];
            int heads = inputs.shape().heads();
            while (heads % rate != 0) {
              heads++;
            }
            int offset = (int) Math.floor((double) head * rate / heads) % rate;
            int segment = Math.min(segments[branch], inputs.shape().length());
            times += attend(query, key, segment, rate, offset) ? 1 : 0;
          }
          return times;
        };
  }

  /** Whether both are of a segment's positions offset, offset + rate, … */
  private static boolean attend(int query, int key, int segment, int rate, int offset) {
    int begin = query - query % segment;
    return key >= begin
        && key - begin < segment
        && isTaken(query - begin, rate, offset)
        && isTaken(key - begin, rate, offset);
  }

  private static boolean isTaken(int position, int rate, int offset) {
    return position >= offset && (position - offset) % rate == 0;
  }

  /** A rule of blocks, asked once for each pair of them. */
  private static Definition blocks(int block, Blocks rule) {
    return inputs -> {
      AttentionShape shape = inputs.shape();
      int count = Definitions.blocks(shape.length(), block);
      int[][] table = new int[count][count];
      for (int own = 0; own < count; own++) {
        int visible = shape.causal() ? own + 1 : count;
        for (int other = 0; other < visible; other++) {
          table[own][other] = rule.times(own, other, visible);
        }
      }
      return (_, _, query, key) -> table[query / block][key / block];
    };
  }

  /** {@code |i - j| ≤ ⌊window/B/2⌋}. */
  private static Blocks near(int window, int block) {
    double most = Math.floor((double) window / block / 2);
    return (own, other, _) -> Math.abs(own - other) <= most ? 1 : 0;
  }

  /** {@code i} and {@code i ± r}. */
  private static Blocks parallels(int... rates) {
    return (own, other, _) ->
        IntStream.concat(IntStream.of(0), Arrays.stream(rates))
                .anyMatch(rate -> other == own - rate || other == own + rate)
            ? 1
            : 0;
  }

  /**
   * Blocks that hold one of every 64 positions where they are near by a window of 256, one of every
   * 256 by a window of 1,024, one of every 1,024 anywhere; and a query's own.
   */
  private static Definition hierarchical(int block) {
    Blocks narrow = near(256, block);
    Blocks wide = near(1024, block);
    return inputs -> {
      int length = inputs.shape().length();
      return blocks(
              block,
              (own, other, visible) ->
                  own == other
                          || (narrow.times(own, other, visible) > 0
                              && holds(other, block, length, 64))
                          || (wide.times(own, other, visible) > 0
                              && holds(other, block, length, 256))
                          || holds(other, block, length, 1024)
                      ? 1
                      : 0)
          .of(inputs);
    };
  }

  /** Whether one of a block's positions is a multiple. */
  private static boolean holds(int index, int block, int length, int of) {
    return IntStream.range(index * block, Math.min(length, (index + 1) * block))
        .anyMatch(position -> position % of == 0);
  }

  /** The nearest blocks; of two that are equally far, the last one may be either. */
  private static Blocks nearest(double dropped) {
    return (own, other, visible) -> {
      int kept = kept(1 - dropped, visible);
      int distance = Math.abs(own - other);
      if (upTo(distance, own, visible) <= kept) {
        return 1;
      }
      return upTo(distance - 1, own, visible) < kept ? OPEN : 0;
    };
  }

  /** How many blocks are at most so far away. */
  private static long upTo(int distance, int own, int visible) {
    return IntStream.range(0, visible).filter(other -> Math.abs(own - other) <= distance).count();
  }

  /** The own block, and of one in so many, from the first on, as many as there may be. */
  private static Blocks strided(double dropped) {
    return (own, other, visible) -> {
      int kept = kept(1 - dropped, visible);
      boolean seen =
          IntStream.range(0, kept)
              .map(i -> i * visible / kept)
              .filter(at -> at != own)
              .limit(kept - 1)
              .anyMatch(at -> at == other);
      return seen || own == other ? 1 : 0;
    };
  }

  /** The nearest and the first, as many of each. */
  private static Blocks localGlobal(double dropped) {
    Comparator<Integer> lower = Comparator.naturalOrder();
    return (own, other, visible) -> {
      int kept = kept(1 - dropped, visible);
      boolean seen = byTurns(own, visible, kept, lower).contains(other);
      boolean open = seen != byTurns(own, visible, kept, lower.reversed()).contains(other);
      return open ? OPEN : seen ? 1 : 0;
    };
  }

  /** By turns the next of the nearest and the next of the first. */
  private static Set<Integer> byTurns(
      int own, int visible, int kept, Comparator<Integer> ofEquallyFar) {
    List<Integer> nearest =
        IntStream.range(0, visible)
            .boxed()
            .sorted(
                Comparator.<Integer>comparingInt(other -> Math.abs(own - other))
                    .thenComparing(ofEquallyFar))
            .toList();
    Set<Integer> seen = new HashSet<>();
    for (int turn = 0; seen.size() < kept; turn++) {
      seen.add(turn % 2 == 0 ? nearest.get(turn / 2) : Integer.valueOf(turn / 2));
    }
    return seen;
  }

  /** Segments and rates follow the length where none are given. */
  @ParameterizedTest
  @CsvSource({
    "8192, 1024 2048 4096, 1 2 4",
    "8193, 2048 8192 32768, 1 2 4",
    "65536, 2048 8192 32768, 1 2 4",
    "65537, 8192 65536 262144, 1 4 16",
    "524288, 8192 65536 262144, 1 4 16",
    "524289, 65536 262144 524288, 1 4 16"
  })
  void segmentsFollowTheLength(int length, String segments, String rates) {
    int[][] usual = {numbers(segments), numbers(rates)};
    AttentionShape shape = new AttentionShape(1, length, 3, 1, 1, true);
    SplittableRandom random = new SplittableRandom(length);
    try (Arena arena = Arena.ofShared();
        Workbench workbench = Definitions.workbench()) {
      AttentionInputs inputs = AttentionInputs.allocate(arena, shape, DataType.F32);
      for (String name : List.of("dilated", "improved-dilated", "longnet", "ring-dilated-v3")) {
        Times definition = (name.equals("longnet") ? longNet(usual) : dilated(usual)).of(inputs);
        try (Plan plan = Variants.of(name).plan(inputs, workbench)) {
          for (int i = 0; i < 20_000; i++) {
            int query = random.nextInt(length);
            // Rates divide 16: positions so far apart are taken together, others seldom.
            int apart = i % 2 == 0 ? 1 : 16;
            int key = query - apart * random.nextInt(query / apart + 1);
            for (int head = 0; head < shape.heads(); head++) {
              assertThat(plan.times(0, head, query, key))
                  .as("%s: head %d, query %d, key %d", name, head, query, key)
                  .isEqualTo(definition.of(0, head, query, key));
            }
          }
        }
      }
    }
  }

  private static int[] numbers(String text) {
    return Arrays.stream(text.split(" ")).mapToInt(Integer::parseInt).toArray();
  }

  /** ALiBi takes {@code 2^(-8·(h+1)/H)} times the distance away, a cap c is {@code c·tanh(s/c)}. */
  @Test
  void rulesChangeScoresAsTheyAreDefined() {
    AttentionShape shape = new AttentionShape(1, 50, 3, 1, 2, false);
    // Scores of up to 10 in float32.
    double rounding = 1e-6;
    try (Arena arena = Arena.ofShared();
        Workbench workbench = Definitions.workbench()) {
      AttentionInputs inputs = AttentionInputs.allocate(arena, shape, DataType.F32);
      try (Plan alibi = Variants.of("flex:rules=alibi").plan(inputs, workbench);
          Plan cap = Variants.of("flex:rules=soft-cap,cap=2").plan(inputs, workbench);
          Plan both = Variants.of("flex:rules=alibi/soft-cap,cap=3").plan(inputs, workbench)) {
        for (int head = 0; head < shape.heads(); head++) {
          double slope = Math.pow(2, -8.0 * (head + 1) / shape.heads());
          for (int key = 0; key < shape.length(); key++) {
            double score = key / 10.0 - 2;
            double less = score - slope * Math.abs(20 - key);
            assertThat(alibi.score(score, 0, head, 20, key)).isCloseTo(less, within(rounding));
            assertThat(cap.score(score, 0, head, 20, key))
                .isCloseTo(2 * Math.tanh(score / 2), within(rounding));
            assertThat(both.score(score, 0, head, 20, key))
                .isCloseTo(3 * Math.tanh(less / 3), within(rounding));
          }
        }
      }
    }
  }
}

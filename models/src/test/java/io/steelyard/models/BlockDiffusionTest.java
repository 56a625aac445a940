package io.steelyard.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.models.diffusion.Blocks;
import io.steelyard.models.diffusion.Blocks.Cache;
import io.steelyard.models.diffusion.Diffusion;
import io.steelyard.models.diffusion.Diffusion.Algorithm;
import io.steelyard.models.diffusion.DiffusionDecoder;
import io.steelyard.models.diffusion.DiffusionDecoder.Listener;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Masked diffusion block by block, with what is kept between the passes. */
class BlockDiffusionTest {
  private static final int MASK = 307;
  private static final int[] PROMPT = {214, 137, 290, 233, 29, 79, 143, 50, 230, 90, 147, 84};

  @TempDir private Path directory;

  private interface Body {
    void run(Session session);
  }

  private void with(Tier tier, Body body) throws IOException {
    try (Kernels kernels = Kernels.of(tier, 2);
        Model model = Model.load(Golden.model("dream", directory), kernels);
        Session session = model.newSession(64, DataType.F32)) {
      body.run(session);
    }
  }

  private static Blocks blocks(int size, Cache cache) {
    return new Blocks(size, cache, OptionalDouble.empty());
  }

  private static Blocks blocks(int size, Cache cache, double threshold) {
    return new Blocks(size, cache, OptionalDouble.of(threshold));
  }

  /** What was filled in, step by step. */
  private static final class Trace implements Listener {
    final List<int[]> positions = new ArrayList<>();
    final List<int[]> sequences = new ArrayList<>();

    @Override
    public void step(int step, int[] filled, int[] sequence) {
      assertThat(step).isEqualTo(positions.size());
      positions.add(filled);
      sequences.add(sequence.clone());
    }
  }

  private static List<float[]> logits(Session session, int[] ids, int from, int to) {
    List<float[]> rows = new ArrayList<>();
    session.forward(
        ids, from, to, _ -> true, (_, row) -> rows.add(row.toArray(ValueLayout.JAVA_FLOAT)));
    return rows;
  }

  static Stream<Tier> tiers() {
    return Arrays.stream(Tier.values()).filter(Kernels::available);
  }

  @ParameterizedTest
  @MethodSource("tiers")
  void computingAPartAnewGivesWhatTheWholeGave(Tier tier) throws IOException {
    int[] ids = Arrays.copyOf(PROMPT, 32);
    Arrays.fill(ids, PROMPT.length, 32, MASK);
    // A matrix product of few rows may add in another order than one of many: rounding of float32,
    // or of the tier's 8 and 16 bits of activations, over two layers.
    float tolerance = tier == Tier.REFERENCE ? 0 : 2e-3f;
    with(
        tier,
        session -> {
          List<float[]> whole = logits(session, ids, 0, 32);
          for (int[] part : new int[][] {{11, 20}, {0, 1}, {31, 32}, {15, 32}, {0, 32}}) {
            List<float[]> again = logits(session, ids, part[0], part[1]);
            assertThat(session.length()).isEqualTo(32);
            for (int i = 0; i < again.size(); i++) {
              assertThat(again.get(i))
                  .as("%s: position %d of %s", tier, part[0] + i, Arrays.toString(part))
                  .containsExactly(
                      whole.get(part[0] + i), org.assertj.core.data.Offset.offset(tolerance));
            }
          }
        });
  }

  @Test
  void aPartSeesWhatIsKeptBeforeAndBehindIt() throws IOException {
    int[] ids = PROMPT.clone();
    with(
        Tier.REFERENCE,
        session -> {
          logits(session, ids, 0, ids.length);
          float[] before = logits(session, ids, 5, 6).getFirst();
          ids[9] = 1;
          logits(session, ids, 9, 10);
          assertThat(logits(session, ids, 5, 6).getFirst()).isNotEqualTo(before);
          session.truncate(9);
          logits(session, ids, 8, 9);
          assertThat(session.length()).isEqualTo(9);
        });
  }

  @Test
  void aPartThatFollowsNothingIsRefused() throws IOException {
    with(
        Tier.REFERENCE,
        session ->
            assertThatThrownBy(() -> logits(session, PROMPT, 3, 5))
                .hasMessageContaining("position 3 on can't follow 0 cached ones"));
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void oneBlockWithoutCacheIsPlainDiffusion(Algorithm algorithm) throws IOException {
    with(
        Tier.REFERENCE,
        session -> {
          DiffusionDecoder decoder = new DiffusionDecoder(session, MASK);
          for (Diffusion diffusion :
              List.of(
                  Diffusion.greedy(16, 8, algorithm),
                  new Diffusion(20, 9, algorithm, 1.5, 0.95, 200, 0.5, 7))) {
            Trace plain = new Trace();
            Trace block = new Trace();
            int[] expected = decoder.generate(PROMPT, diffusion, plain);
            assertThat(
                    decoder.generate(
                        PROMPT, diffusion, blocks(diffusion.tokens(), Cache.NONE), block))
                .isEqualTo(expected);
            assertThat(block.positions).usingRecursiveComparison().isEqualTo(plain.positions);
          }
        });
  }

  @Test
  void whereNothingFollowsTheBlockBothCachesAreOne() throws IOException {
    with(
        Tier.REFERENCE,
        session -> {
          DiffusionDecoder decoder = new DiffusionDecoder(session, MASK);
          Diffusion diffusion = Diffusion.greedy(16, 8, Algorithm.MASKGIT_PLUS);
          assertThat(decoder.generate(PROMPT, diffusion, blocks(16, Cache.DUAL), Listener.NONE))
              .isEqualTo(
                  decoder.generate(PROMPT, diffusion, blocks(16, Cache.PREFIX), Listener.NONE));
        });
  }

  @Test
  void blocksThatAStepFillsInNeedNoCache() throws IOException {
    with(
        Tier.REFERENCE,
        session -> {
          DiffusionDecoder decoder = new DiffusionDecoder(session, MASK);
          Diffusion diffusion = Diffusion.greedy(16, 4, Algorithm.ENTROPY);
          int[] expected =
              decoder.generate(PROMPT, diffusion, blocks(4, Cache.NONE), Listener.NONE);
          for (Cache cache : Cache.values()) {
            assertThat(decoder.generate(PROMPT, diffusion, blocks(4, cache), Listener.NONE))
                .isEqualTo(expected);
          }
        });
  }

  @ParameterizedTest
  @EnumSource(Cache.class)
  void blocksAreFilledInFromLeftToRightAndStay(Cache cache) throws IOException {
    with(
        Tier.REFERENCE,
        session -> {
          DiffusionDecoder decoder = new DiffusionDecoder(session, MASK);
          for (Algorithm algorithm : Algorithm.values()) {
            Trace trace = new Trace();
            // Blocks of 8, 8 and 4 tokens with 4, 4 and 2 steps.
            Diffusion diffusion = new Diffusion(20, 10, algorithm, 0.7, 0.95, 0, 0, 3);
            int[] ids = decoder.generate(PROMPT, diffusion, blocks(8, cache), trace);
            assertThat(ids).hasSize(32).startsWith(PROMPT).doesNotContain(MASK);
            assertThat(trace.positions).hasSizeLessThanOrEqualTo(10);
            assertThat(decoder.generate(PROMPT, diffusion, blocks(8, cache), Listener.NONE))
                .isEqualTo(ids);
            int lastBlock = 0;
            for (int[] positions : trace.positions) {
              for (int position : positions) {
                int block = (position - PROMPT.length) / 8;
                assertThat(block).as("%s", algorithm).isGreaterThanOrEqualTo(lastBlock);
                lastBlock = block;
              }
            }
            for (int[] sequence : trace.sequences) {
              IntStream.range(0, 32)
                  .filter(position -> sequence[position] != MASK)
                  .forEach(position -> assertThat(sequence[position]).isEqualTo(ids[position]));
            }
          }
        });
  }

  @ParameterizedTest
  @EnumSource(Cache.class)
  void aThresholdFillsInAtLeastTheMostConfidentMask(Cache cache) throws IOException {
    with(
        Tier.REFERENCE,
        session -> {
          DiffusionDecoder decoder = new DiffusionDecoder(session, MASK);
          Diffusion diffusion = Diffusion.greedy(16, 1, Algorithm.MASKGIT_PLUS);
          Trace one = new Trace();
          decoder.generate(PROMPT, diffusion, blocks(8, cache, 1), one);
          assertThat(one.positions).hasSize(16).allSatisfy(p -> assertThat(p).hasSize(1));
          Trace all = new Trace();
          decoder.generate(PROMPT, diffusion, blocks(8, cache, 0), all);
          assertThat(all.positions).hasSize(2).allSatisfy(p -> assertThat(p).hasSize(8));
          Trace some = new Trace();
          int[] ids = decoder.generate(PROMPT, diffusion, blocks(8, cache, 0.02), some);
          assertThat(ids).doesNotContain(MASK);
          assertThat(some.positions)
              .hasSizeBetween(2, 16)
              .allSatisfy(p -> assertThat(p).isNotEmpty());
        });
  }

  @ParameterizedTest
  @EnumSource(
      names = {"ORIGIN", "ENTROPY"},
      value = Algorithm.class)
  void aThresholdForWhatIsNoShareIsRefused(Algorithm algorithm) throws IOException {
    with(
        Tier.REFERENCE,
        session ->
            assertThatThrownBy(
                    () ->
                        new DiffusionDecoder(session, MASK)
                            .generate(
                                PROMPT,
                                Diffusion.greedy(8, 8, algorithm),
                                blocks(8, Cache.NONE, 0.9),
                                Listener.NONE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("take maskgit_plus or topk_margin"));
  }
}

package io.steelyard.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.models.diffusion.Diffusion;
import io.steelyard.models.diffusion.Diffusion.Algorithm;
import io.steelyard.models.diffusion.DiffusionDecoder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** Masked diffusion against golden traces: which masks each step fills in, and with what. */
class DiffusionTest {
  @TempDir private Path directory;

  private interface Body {
    void run(DiffusionDecoder decoder) throws IOException;
  }

  private void with(Tier tier, int mask, Body body) throws IOException {
    try (Kernels kernels = Kernels.of(tier, 2);
        Model model = Model.load(Golden.model("dream", directory), kernels);
        Session session = model.newSession(64, DataType.F32)) {
      body.run(new DiffusionDecoder(session, mask));
    }
  }

  static Stream<Tier> tiers() {
    return Arrays.stream(Tier.values()).filter(Kernels::available);
  }

  @ParameterizedTest
  @MethodSource("tiers")
  void everyStepIsTheGoldenOne(Tier tier) throws IOException {
    JsonNode traces = Golden.json("tiny/dream/traces.json");
    int[] prompt = Golden.ids(traces.get("prompt"));
    int mask = traces.get("mask_token_id").asInt();
    with(
        tier,
        mask,
        decoder -> {
          for (JsonNode run : traces.get("runs")) {
            Algorithm algorithm =
                Algorithm.valueOf(run.get("algorithm").asString().toUpperCase(Locale.ROOT));
            Diffusion diffusion =
                Diffusion.greedy(
                    run.get("new_tokens").asInt(), run.get("steps").asInt(), algorithm);
            List<List<Integer>> steps = new ArrayList<>();
            int[] ids =
                decoder.generate(
                    prompt,
                    diffusion,
                    (step, positions, sequence) ->
                        steps.add(
                            Arrays.stream(positions)
                                .flatMap(p -> java.util.stream.IntStream.of(p, sequence[p]))
                                .boxed()
                                .toList()));
            assertThat(ids).as("%s", diffusion).isEqualTo(Golden.ids(run.get("ids")));
            List<List<Integer>> golden = new ArrayList<>();
            for (JsonNode step : run.get("trace")) {
              List<JsonNode> committed = new ArrayList<>();
              step.get("committed").forEach(committed::add);
              golden.add(
                  committed.stream()
                      .sorted(java.util.Comparator.comparingInt(c -> c.get("pos").asInt()))
                      .flatMap(c -> Stream.of(c.get("pos").asInt(), c.get("id").asInt()))
                      .toList());
            }
            assertThat(steps).as("%s", diffusion).isEqualTo(golden);
          }
        });
  }

  @ParameterizedTest
  @CsvSource({"256, 128, 1, 2, 2, 3", "128, 32, 3, 4, 4, 5", "256, 256, 0, 1, 1, 2"})
  void theScheduleGivesTheKnownCounts(
      int tokens, int steps, int first, int second, int lastButOne, int last) {
    Diffusion diffusion = Diffusion.greedy(tokens, steps, Algorithm.ENTROPY);
    List<Integer> counts = new ArrayList<>();
    int left = tokens;
    for (int step = 0; step < steps; step++) {
      counts.add(diffusion.filled(step, left));
      left -= counts.getLast();
    }
    assertThat(left).isZero();
    assertThat(counts).startsWith(first, second).endsWith(lastButOne, last);
  }

  @ParameterizedTest
  @CsvSource({"ORIGIN", "MASKGIT_PLUS", "TOPK_MARGIN", "ENTROPY"})
  void chanceFollowsFromTheSeedAndLeavesNoMask(Algorithm algorithm) throws IOException {
    with(
        Tier.REFERENCE,
        307,
        decoder -> {
          int[] prompt = {1, 2, 3};
          Diffusion seeded = new Diffusion(20, 9, algorithm, 1.5, 0.95, 200, 0.5, 7);
          Diffusion other = new Diffusion(20, 9, algorithm, 1.5, 0.95, 200, 0.5, 8);
          int[] ids = decoder.generate(prompt, seeded, DiffusionDecoder.Listener.NONE);
          assertThat(ids).hasSize(23).startsWith(prompt).doesNotContain(307);
          assertThat(decoder.generate(prompt, seeded, DiffusionDecoder.Listener.NONE))
              .isEqualTo(ids);
          assertThat(decoder.generate(prompt, other, DiffusionDecoder.Listener.NONE))
              .isNotEqualTo(ids);
        });
  }

  @Test
  void aModelThatSeesOneDirectionIsRefused() throws IOException {
    try (Kernels kernels = Kernels.of(Tier.REFERENCE, 1);
        Model model = Model.load(Golden.model("qwen2", directory), kernels);
        Session session = model.newSession(64, DataType.F32)) {
      assertThatThrownBy(() -> new DiffusionDecoder(session, 1))
          .isInstanceOf(ModelException.class)
          .hasMessageContaining("diffusion needs one that is trained to fill in masks");
    }
  }
}

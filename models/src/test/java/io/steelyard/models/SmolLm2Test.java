package io.steelyard.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.models.sampling.Sampler;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/**
 * A real model against exact-math goldens: its weights dequantised, multiplied in float64. The
 * bounds of the vector tier are what llama.cpp's default kernels reach at the same positions.
 */
class SmolLm2Test {
  private static final int VOCABULARY = 49_152;
  private static final int LAST = 4;

  private Path file;

  @BeforeEach
  void findModel() {
    String path =
        Optional.ofNullable(System.getProperty("steelyard.test.model"))
            .or(() -> Optional.ofNullable(System.getenv("STEELYARD_TEST_MODEL")))
            .orElse("");
    assumeTrue(
        !path.isEmpty() && Files.isReadable(Path.of(path)),
        "SmolLM2-135M-Instruct.Q4_1.gguf is missing: name it in STEELYARD_TEST_MODEL");
    file = Path.of(path);
  }

  private interface Body {
    void run(Session session) throws IOException;
  }

  private void with(Tier tier, DataType kv, Body body) throws IOException {
    int threads = Math.min(4, Runtime.getRuntime().availableProcessors());
    try (Kernels kernels = Kernels.of(tier, threads);
        Model model = Model.load(file, kernels);
        Session session = model.newSession(128, kv)) {
      assertThat(model.precision()).isEqualTo("Q4_1 79% + Q8_0 21%");
      body.run(session);
    }
  }

  @ParameterizedTest
  @CsvSource({"english", "code", "chat"})
  void referenceLogitsAreTheExactOnes(String text) throws IOException {
    JsonNode golden = Golden.json("smollm2/" + text + ".top5.json");
    int[] ids = Golden.ids(golden.get("ids"));
    float[] last = Golden.floats("smollm2/" + text + ".hf.last4.f32.gz");
    with(
        Tier.REFERENCE,
        DataType.F32,
        session -> {
          int[] position = {0};
          session.forward(
              ids,
              0,
              ids.length,
              row -> {
                JsonNode top5 = golden.get("hf").get(position[0]);
                for (JsonNode pair : top5) {
                  float logit = row.getAtIndex(ValueLayout.JAVA_FLOAT, pair.get(0).asInt());
                  assertThat(logit).isCloseTo((float) pair.get(1).asDouble(), within(2e-3f));
                }
                assertThat(Sampler.argmax(row)).isEqualTo(top5.get(0).get(0).asInt());
                int inLast = position[0] - (ids.length - LAST);
                if (inLast >= 0) {
                  assertThat(largestDifference(row, last, inLast)).isLessThan(2e-3);
                }
                position[0]++;
              });
          assertThat(position[0]).isEqualTo(ids.length);
        });
  }

  @ParameterizedTest
  @CsvSource({
    // tier, text, llama.cpp's mean KL to the golden at the last positions, its top-1 agreement;
    // where activations are rounded to 8 bits, as llama.cpp does, a near tie may go either way
    "VECTOR, english, 0.0020027, 102",
    "VECTOR, code, 0.00031234, 101",
    "VECTOR, chat, 0.0013008, 34",
    "AVX2, english, 0.0020027, 102",
    "AVX2, code, 0.00031234, 101",
    "AVX2, chat, 0.0013008, 33",
    "AVX512, english, 0.0020027, 101",
    "AVX512, code, 0.00031234, 101",
    "AVX512, chat, 0.0013008, 33",
    "AMX, english, 0.0020027, 101",
    "AMX, code, 0.00031234, 101",
    "AMX, chat, 0.0013008, 33"
  })
  void logitsAreNoFartherThanLlamaCpps(Tier tier, String text, double bound, int agreeing)
      throws IOException {
    assumeTrue(Kernels.available(tier), "not applicable here: no " + tier.label() + " tier");
    JsonNode golden = Golden.json("smollm2/" + text + ".top5.json");
    int[] ids = Golden.ids(golden.get("ids"));
    float[] last = Golden.floats("smollm2/" + text + ".hf.last4.f32.gz");
    with(
        tier,
        DataType.F16,
        session -> {
          int[] position = {0};
          int[] agreed = {0};
          double[] divergence = {0};
          session.forward(
              ids,
              0,
              ids.length,
              row -> {
                int best = golden.get("hf").get(position[0]).get(0).get(0).asInt();
                agreed[0] += Sampler.argmax(row) == best ? 1 : 0;
                int inLast = position[0] - (ids.length - LAST);
                if (inLast >= 0) {
                  divergence[0] += divergence(last, inLast, row) / LAST;
                }
                position[0]++;
              });
          System.out.printf(
              "%s, %s: mean KL %.3g (llama.cpp %.3g), top-1 %d of %d (llama.cpp %d)%n",
              tier, text, divergence[0], bound, agreed[0], ids.length, agreeing);
          assertThat(divergence[0]).isLessThanOrEqualTo(bound);
          assertThat(agreed[0]).isGreaterThanOrEqualTo(agreeing);
        });
  }

  @ParameterizedTest
  @EnumSource
  void greedyDecodingGivesTheGoldenTokens(Tier tier) throws IOException {
    assumeTrue(Kernels.available(tier), "not applicable here: no " + tier.label() + " tier");
    JsonNode greedy = Golden.json("smollm2/greedy.json");
    int[] prompt = Golden.ids(greedy.get("prompt"));
    List<Integer> expected =
        Arrays.stream(Golden.ids(greedy.get("hf").get("ids"))).boxed().toList();
    with(
        tier,
        tier == Tier.REFERENCE ? DataType.F32 : DataType.F16,
        session -> {
          List<Integer> ids = new ArrayList<>();
          session.advance(prompt, 0, prompt.length - 1);
          int id = prompt[prompt.length - 1];
          for (int i = 0; i < expected.size(); i++) {
            id = Sampler.argmax(session.step(id));
            ids.add(id);
          }
          assertThat(ids).containsExactlyElementsOf(expected);
        });
  }

  private static double largestDifference(MemorySegment row, float[] golden, int position) {
    double largest = 0;
    for (int i = 0; i < VOCABULARY; i++) {
      double difference =
          (double) row.getAtIndex(ValueLayout.JAVA_FLOAT, i) - golden[position * VOCABULARY + i];
      largest = Math.max(largest, Math.abs(difference));
    }
    return largest;
  }

  /** Kullback-Leibler divergence of a row's distribution from the golden one, in nats. */
  private static double divergence(float[] golden, int position, MemorySegment row) {
    float[] exact = Arrays.copyOfRange(golden, position * VOCABULARY, (position + 1) * VOCABULARY);
    float[] actual = row.toArray(ValueLayout.JAVA_FLOAT);
    double exactTotal = logOfSum(exact);
    double actualTotal = logOfSum(actual);
    double sum = 0;
    for (int i = 0; i < VOCABULARY; i++) {
      double log = exact[i] - exactTotal;
      sum += Math.exp(log) * (log - (actual[i] - actualTotal));
    }
    return sum;
  }

  private static double logOfSum(float[] logits) {
    double max = Double.NEGATIVE_INFINITY;
    for (float logit : logits) {
      max = Math.max(max, logit);
    }
    double sum = 0;
    for (float logit : logits) {
      sum += Math.exp(logit - max);
    }
    return max + Math.log(sum);
  }
}

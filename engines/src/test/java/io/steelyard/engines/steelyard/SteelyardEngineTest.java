package io.steelyard.engines.steelyard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.ProfileFile;
import io.steelyard.kernels.ProfiledKernels;
import io.steelyard.kernels.Tier;
import io.steelyard.lab.worker.DecodeReport;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.EngineProvider;
import io.steelyard.lab.worker.ForwardRequest;
import io.steelyard.lab.worker.LayersReport;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.LoadRequest;
import io.steelyard.lab.worker.PrefillReport;
import io.steelyard.lab.worker.PrefillRequest;
import io.steelyard.lab.worker.TokenListener;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.IntStream;
import jdk.jfr.consumer.RecordingFile;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SteelyardEngineTest {
  private static final int VOCABULARY = 320;
  private static final int[] PROMPT = {45, 224, 313, 143, 298, 288, 20, 307};

  /** After these the model runs in a circle, leaves it, and comes back to it. */
  private static final int[] REPEATING =
      IntStream.range(0, 24).map(i -> new int[] {132, 110, 115}[i % 3]).toArray();

  private static final int TOKENS = 60;

  @TempDir Path directory;
  private final SteelyardEngine engine = new SteelyardEngine(Map.of());
  private String model = "";

  @BeforeEach
  void copyModel() throws IOException {
    Path file = directory.resolve("llama.gguf");
    try (InputStream in =
        SteelyardEngineTest.class.getResourceAsStream(
            "/io/steelyard/engines/llamacpp/llama.gguf")) {
      assertThat(in).isNotNull();
      Files.copy(in, file);
    }
    model = file.toString();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private LoadReport load(Map<String, String> options) throws EngineException {
    return engine.load(new LoadRequest(model, 2, 100, "f32", true, options));
  }

  private static void assertRefused(Kind kind, String message, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(EngineException.class)
        .hasMessageContaining(message)
        .satisfies(thrown -> assertThat(((EngineException) thrown).kind()).isEqualTo(kind));
  }

  @Test
  void isFoundByItsName() {
    assertThat(ServiceLoader.load(EngineProvider.class))
        .anyMatch(provider -> provider.name().equals("steelyard"));
  }

  @Test
  void saysWhoItIs() throws EngineException {
    EngineInfo info = engine.hello();
    assertThat(info.engine()).isEqualTo("steelyard");
    assertThat(info.backend()).isEqualTo(Kernels.describe(Kernels.best()));
    assertThat(info.build()).hasSize(64).isEqualTo(engine.hello().build());
    assertThat(info.capabilities()).containsExactly("forward", "layers");
    assertThat(info.hosted()).isFalse();
  }

  @Test
  void reportsWhatIsInForce() throws EngineException {
    LoadReport report = load(Map.of("kv", "f16", "tier", "reference", "threads", "1"));
    assertThat(report.settings().weights()).isEqualTo("F32");
    assertThat(report.settings().kv()).isEqualTo("f16");
    assertThat(report.settings().threads()).isEqualTo(1);
    assertThat(report.settings().context()).isEqualTo(100);
    assertThat(report.settings().batch()).isEqualTo(100);
    assertThat(report.settings().vocabulary()).isEqualTo(VOCABULARY);
    assertThat(report.settings().layers()).isEqualTo(3);
    assertThat(report.settings().parameters()).isEqualTo(164_288);
    assertThat(report.settings().flashAttention()).isFalse();
    assertThat(report.bytes()).containsKeys("weights", "kv", "activations");
    assertThat(engine.hello().backend()).isEqualTo("reference scalar");
    assertThat(load(Map.of()).settings().flashAttention()).isTrue();
    assertThat(engine.memory().parts()).containsKeys("weights", "kv", "activations");
  }

  @Test
  void theEnvironmentForcesATierWhereNoOptionDoes() throws EngineException {
    try (SteelyardEngine forced = new SteelyardEngine(Map.of("STEELYARD_TIER", "reference"))) {
      assertThat(forced.hello().backend()).isEqualTo("reference scalar");
      forced.load(new LoadRequest(model, 1, 10, "f32", true, Map.of()));
      assertThat(forced.hello().backend()).isEqualTo("reference scalar");
      forced.load(new LoadRequest(model, 1, 10, "f32", true, Map.of("tier", "vector")));
      assertThat(forced.hello().backend()).startsWith("vector");
    }
    try (SteelyardEngine wrong = new SteelyardEngine(Map.of("STEELYARD_TIER", "fast"))) {
      assertRefused(
          Kind.BAD_REQUEST,
          "STEELYARD_TIER must be reference|vector|avx2|avx512|amx, not 'fast'",
          () -> wrong.load(new LoadRequest(model, 1, 10, "f32", true, Map.of())));
    }
  }

  @Test
  void bothTiersComputeTheSame() throws EngineException, IOException {
    List<float[]> reference = logits("reference");
    List<float[]> vector = logits("vector");
    assertThat(reference).hasSize(PROMPT.length);
    for (int i = 0; i < reference.size(); i++) {
      for (int id = 0; id < VOCABULARY; id++) {
        assertThat((double) vector.get(i)[id])
            .isCloseTo(reference.get(i)[id], org.assertj.core.api.Assertions.within(1e-3));
      }
    }
  }

  private List<float[]> logits(String tier) throws EngineException, IOException {
    load(Map.of("tier", tier));
    List<float[]> rows = new ArrayList<>();
    engine.logits(PROMPT, row -> rows.add(row.toArray(ValueLayout.JAVA_FLOAT)));
    return rows;
  }

  @Test
  void aProfileHoldsTheTimedCallsSinceTheLastReset() throws EngineException, IOException {
    Path folder = directory.resolve("made/profile");
    load(Map.of("profile", folder.toString()));
    assertThat(engine.hello().backend()).endsWith("profiled");
    engine.prefill(new PrefillRequest(PROMPT, 0));
    engine.reset();
    engine.prefill(new PrefillRequest(PROMPT, 3));
    engine.prefill(new PrefillRequest(PROMPT, 3));
    engine.close();

    List<ProfiledKernels.Line> lines = ProfileFile.read(folder.resolve("operators.tsv"));
    assertThat(lines)
        .as("no warm-up of 8 tokens, no depth of 3")
        .allMatch(line -> line.kernel().endsWith(" 5 tokens") || line.kernel().endsWith(" 1 token"))
        .filteredOn(line -> line.operator().equals("embed"))
        .singleElement()
        .matches(line -> line.calls() == 2);
    long recorded =
        RecordingFile.readAllEvents(folder.resolve("recording.jfr")).stream()
            .filter(e -> e.getEventType().getName().equals(ProfiledKernels.OperatorEvent.NAME))
            .count();
    assertThat(recorded).isEqualTo(lines.stream().mapToLong(ProfiledKernels.Line::calls).sum());
  }

  @Test
  void aProfileThatCannotBeWrittenIsRefusedWithItsFolder() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    assertRefused(Kind.FAILED, file.toString(), () -> load(Map.of("profile", file.toString())));
    assertRefused(Kind.BAD_REQUEST, "profile is empty", () -> load(Map.of("profile", " ")));
  }

  @Test
  void prefillGivesTheMostLikelyNextTokenAtEveryDepth() throws EngineException, IOException {
    List<float[]> rows = logits("vector");
    for (int depth : new int[] {0, 3, 3, 7, 2}) {
      PrefillReport report = engine.prefill(new PrefillRequest(PROMPT, depth));
      assertThat(report.argmax()).isEqualTo(argmax(rows.getLast()));
      assertThat(report.nanos()).isPositive();
    }
  }

  private static int argmax(float[] logits) {
    int best = 0;
    for (int i = 1; i < logits.length; i++) {
      best = logits[i] > logits[best] ? i : best;
    }
    return best;
  }

  @Test
  void decodesForcedLengthWithTimesAndMargins() throws EngineException {
    load(Map.of());
    DecodeReport report = engine.decode(DecodeRequest.greedy(PROMPT, 32, true), TokenListener.NONE);
    assertThat(report.ids()).startsWith(276, 22, 314, 182, 234, 71).hasSize(32);
    assertThat(report.nanos()).hasSize(32).isSorted();
    assertThat(report.margins()).hasSize(32);
    DecodeReport again = engine.decode(DecodeRequest.greedy(PROMPT, 32, true), TokenListener.NONE);
    assertThat(again.ids()).isEqualTo(report.ids());
    assertThat(again.margins()).isEqualTo(report.margins());
  }

  @Test
  void laterPromptsThatBeginAlikeGiveTheSameNumbers() throws EngineException {
    load(Map.of("kv", "f16"));
    int[] prompt = Arrays.copyOf(PROMPT, PROMPT.length);
    float[] alone = margins(prompt);
    int[] other = prompt.clone();
    other[5] = 1;
    assertThat(margins(other)).isNotEqualTo(alone);
    assertThat(margins(prompt)).isEqualTo(alone);
    engine.prefill(new PrefillRequest(prompt, 3));
    assertThat(margins(prompt)).isEqualTo(alone);
  }

  private float[] margins(int[] prompt) throws EngineException {
    return engine.decode(DecodeRequest.greedy(prompt, 8, true), TokenListener.NONE).margins();
  }

  @Test
  void streamsTokensAndStopsAtAStopToken() throws EngineException {
    load(Map.of());
    List<Integer> streamed = new ArrayList<>();
    DecodeReport report =
        engine.decode(
            new DecodeRequest(PROMPT, 32, DecodeRequest.Sampling.GREEDY, false, true, List.of(182)),
            streamed::add);
    assertThat(report.ids()).containsExactly(276, 22, 314, 182);
    assertThat(streamed).containsExactly(276, 22, 314, 182);
    assertThat(report.margins()).isEmpty();
  }

  @Test
  void sampledDecodingFollowsItsSeed() throws EngineException {
    load(Map.of());
    assertThat(sampled(1)).isEqualTo(sampled(1)).isNotEqualTo(sampled(2));
  }

  private int[] sampled(long seed) throws EngineException {
    DecodeRequest.Sampling sampling = new DecodeRequest.Sampling(1.5f, 0, 1, 0, seed);
    return engine
        .decode(
            new DecodeRequest(PROMPT, 20, sampling, false, false, List.of()), TokenListener.NONE)
        .ids();
  }

  @Test
  void speculationGivesTheSameTokensAndMarginsInFewerPasses() throws EngineException {
    for (String tier :
        Arrays.stream(Tier.values()).filter(Kernels::available).map(Tier::label).toList()) {
      load(Map.of("tier", tier));
      DecodeReport plain = decode(List.of());
      assertThat(passes(plain)).isEqualTo(TOKENS);

      load(Map.of("tier", tier, "speculate", "lookup"));
      DecodeReport drafted = decode(List.of());

      assertThat(drafted.ids()).isEqualTo(plain.ids());
      assertThat(drafted.margins()).isEqualTo(plain.margins());
      assertThat(drafted.nanos()).isSorted();
      assertThat(passes(drafted)).isLessThan(TOKENS);
      assertThat(decode(List.of()).ids()).as("the next call").isEqualTo(plain.ids());
    }
  }

  @Test
  void aStopTokenInsideADraftEndsTheGeneration() throws EngineException {
    load(Map.of());
    int[] circle = Arrays.copyOf(decode(List.of()).ids(), 10);
    int[] prompt = IntStream.concat(Arrays.stream(REPEATING), Arrays.stream(circle)).toArray();
    load(Map.of("speculate", "lookup"));
    DecodeReport all = decode(prompt, List.of());
    assertThat(all.nanos()[1]).as("the first pass gives several").isEqualTo(all.nanos()[0]);

    assertThat(decode(prompt, List.of(all.ids()[0])).ids()).containsExactly(all.ids()[0]);
  }

  private DecodeReport decode(List<Integer> stop) throws EngineException {
    return decode(REPEATING, stop);
  }

  private DecodeReport decode(int[] prompt, List<Integer> stop) throws EngineException {
    return engine.decode(
        new DecodeRequest(prompt, TOKENS, DecodeRequest.Sampling.GREEDY, true, false, stop),
        TokenListener.NONE);
  }

  private static long passes(DecodeReport report) {
    return Arrays.stream(report.nanos()).distinct().count();
  }

  @Test
  void speculationIsShownAndIsForGreedyDecodingAlone() throws EngineException {
    load(Map.of("tier", "vector", "speculate", "lookup"));
    assertThat(engine.hello().backend()).matches("vector \\d+-bit, prompt lookup");
    assertRefused(Kind.UNSUPPORTED, "speculate=lookup is for greedy decoding", () -> sampled(1));
    load(Map.of("tier", "vector", "speculate", "off"));
    assertThat(engine.hello().backend()).matches("vector \\d+-bit");
    assertThat(sampled(1)).hasSize(20);
    assertRefused(
        Kind.BAD_REQUEST,
        "speculate must be lookup or off, not 'draft'",
        () -> load(Map.of("speculate", "draft")));
  }

  @Test
  void forwardChecksumsTheMostLikelyTokens() throws EngineException {
    load(Map.of());
    int[] other = Arrays.copyOf(PROMPT, PROMPT.length);
    other[0] = 1;
    long same = engine.forward(new ForwardRequest(new int[][] {PROMPT, PROMPT})).checksum();
    assertThat(engine.forward(new ForwardRequest(new int[][] {PROMPT, PROMPT})).checksum())
        .isEqualTo(same);
    assertThat(engine.forward(new ForwardRequest(new int[][] {PROMPT, other})).checksum())
        .isNotEqualTo(same);
  }

  @Test
  void layersNamesEachBlock() throws EngineException, IOException {
    load(Map.of());
    int[] rows = {0};
    LayersReport report = engine.layers(PROMPT, row -> rows[0]++);
    assertThat(report.names()).containsExactly("embedding", "layer 0", "layer 1", "layer 2");
    assertThat(report.width()).isEqualTo(64);
    assertThat(rows[0]).isEqualTo(4 * PROMPT.length);
    assertThatThrownBy(
            () ->
                engine.layers(
                    PROMPT,
                    row -> {
                      throw new IOException("disk full");
                    }))
        .isInstanceOf(IOException.class)
        .hasMessage("disk full");
  }

  @Test
  void tokenizesWithTheModelsOwnTokenizer() throws EngineException {
    load(Map.of());
    assertThat(engine.tokenize("hello", false)).isNotEmpty();
  }

  @Test
  void refusesWhatItCannotServe() throws EngineException {
    assertRefused(Kind.BAD_REQUEST, "no model is loaded", () -> engine.reset());
    assertRefused(
        Kind.UNSUPPORTED,
        "steelyard has no option 'flash'; it has: tier=reference|vector|avx2|avx512|amx",
        () -> load(Map.of("flash", "on")));
    assertRefused(
        Kind.BAD_REQUEST, "kv must be f16, f32 or q8_0", () -> load(Map.of("kv", "q4_0")));
    assertRefused(
        Kind.BAD_REQUEST, "threads must be 1 to 1024, not 0", () -> load(Map.of("threads", "0")));
    assertRefused(
        Kind.BAD_REQUEST, "threads must be a whole number", () -> load(Map.of("threads", "two")));
    assertRefused(
        Kind.BAD_REQUEST,
        "the context must be at least 1",
        () -> engine.load(new LoadRequest(model, 1, 0, "f32", true, Map.of())));
    assertRefused(
        Kind.BAD_REQUEST,
        "use a shorter --context",
        () -> engine.load(new LoadRequest(model, 1, Integer.MAX_VALUE, "f32", true, Map.of())));
    assertRefused(
        Kind.BAD_REQUEST,
        "can't be switched off",
        () -> engine.load(new LoadRequest(model, 1, 10, "f32", false, Map.of())));
    engine.load(new LoadRequest(model, 1, 10, "f32", false, Map.of("tier", "reference")));
    Path text = directory.resolve("text.gguf");
    assertRefused(
        Kind.BAD_MODEL,
        text.toString(),
        () -> engine.load(new LoadRequest(text.toString(), 1, 10, "f32", true, Map.of())));
    load(Map.of());
    assertRefused(
        Kind.BAD_REQUEST,
        "temperature -1.0",
        () ->
            engine.decode(
                new DecodeRequest(
                    PROMPT, 1, new DecodeRequest.Sampling(-1, 0, 1, 0, 0), false, false, List.of()),
                TokenListener.NONE));
  }
}

package io.steelyard.engines.steelyard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.lab.worker.DecodeReport;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.LoadRequest;
import io.steelyard.lab.worker.TokenListener;
import io.steelyard.models.Model;
import io.steelyard.models.Session;
import io.steelyard.models.diffusion.Blocks;
import io.steelyard.models.diffusion.Diffusion;
import io.steelyard.models.diffusion.Diffusion.Algorithm;
import io.steelyard.models.diffusion.DiffusionDecoder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A model that fills in masks, behind the engine's decode. */
class MaskFillerTest {
  private static final Path TINY = Path.of("../models/src/test/resources/io/steelyard/models/tiny");
  private static final Path DREAM = TINY.resolve("dream/dream.gguf");
  private static final int MASK = 307;
  private static final int[] PROMPT = {45, 224, 31, 143, 298, 288, 20, 12};
  private static final int TOKENS = 12;

  private static SteelyardEngine load(Path model, Map<String, String> options)
      throws EngineException {
    Map<String, String> all = new HashMap<>(options);
    all.put("tier", "reference");
    SteelyardEngine engine = new SteelyardEngine(Map.of());
    try {
      var _ = engine.load(new LoadRequest(model.toString(), 2, 64, "f32", true, all));
      return engine;
    } catch (EngineException e) {
      engine.close();
      throw e;
    }
  }

  private static int[] expected(Diffusion diffusion, Blocks blocks) {
    try (Kernels kernels = Kernels.of(Tier.REFERENCE, 2);
        Model model = Model.load(DREAM, kernels);
        Session session = model.newSession(64, DataType.F32)) {
      int[] sequence =
          new DiffusionDecoder(session, MASK)
              .generate(PROMPT, diffusion, blocks, DiffusionDecoder.Listener.NONE);
      return Arrays.copyOfRange(sequence, PROMPT.length, sequence.length);
    }
  }

  @Test
  void masksAreFilledInByTheSchedule() throws EngineException {
    SteelyardEngine engine = load(DREAM, Map.of("steps", "6"));

    DecodeReport report =
        engine.decode(DecodeRequest.greedy(PROMPT, TOKENS, false), TokenListener.NONE);
    engine.close();

    assertThat(report.ids())
        .isEqualTo(expected(Diffusion.greedy(TOKENS, 6, Algorithm.ENTROPY), Blocks.NONE));
    assertThat(report.passes()).contains(6);
    assertThat(report.nanos()).hasSize(TOKENS).isSorted();
  }

  @ParameterizedTest
  @CsvSource({"none", "prefix", "dual"})
  void blocksAreFilledInByConfidence(String cache) throws EngineException {
    SteelyardEngine engine = load(DREAM, Map.of("cache", cache, "block", "4", "confidence", "0"));

    DecodeReport report =
        engine.decode(DecodeRequest.greedy(PROMPT, TOKENS, false), TokenListener.NONE);
    engine.close();

    Blocks blocks =
        new Blocks(4, Blocks.Cache.valueOf(cache.toUpperCase(Locale.ROOT)), OptionalDouble.of(0));
    assertThat(report.ids())
        .isEqualTo(expected(Diffusion.greedy(TOKENS, TOKENS, Algorithm.MASKGIT_PLUS), blocks));
    assertThat(report.passes()).contains(3);
  }

  @ParameterizedTest
  @CsvSource({
    "steps,0,steps must be at least 1",
    "steps,few,whole numbers",
    "block,0,a block of 0 tokens",
    "cache,all,'cache must be none|prefix|dual, not ''all'''",
    "confidence,2,threshold 2.0 must be 0 to 1",
    "algorithm,best,algorithm must be"
  })
  void nonsenseIsRefused(String option, String value, String said) {
    assertThatThrownBy(() -> load(DREAM, Map.of(option, value)))
        .isInstanceOf(EngineException.class)
        .hasMessageContaining(said);
  }

  @Test
  void aModelThatGeneratesTokenByTokenHasNoMasks() {
    assertThatThrownBy(() -> load(TINY.resolve("qwen2/qwen2.gguf"), Map.of("cache", "dual")))
        .isInstanceOf(EngineException.class)
        .hasMessageContaining("this one generates token by token");
    assertThatThrownBy(() -> load(DREAM, Map.of("speculate", "lookup")))
        .isInstanceOf(EngineException.class)
        .hasMessageContaining("this one fills in masks");
  }
}

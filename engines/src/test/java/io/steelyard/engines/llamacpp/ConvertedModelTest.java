package io.steelyard.engines.llamacpp;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.LoadRequest;
import io.steelyard.models.Model;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.Session;
import io.steelyard.models.safetensors.SafetensorsModel;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.ValueLayout;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** llama.cpp runs what the converter writes, and computes from it what the reference tier does. */
class ConvertedModelTest {
  /** Megabytes, so that they stand once among all modules' resources. */
  private static final Path MODELS = Path.of("../models/src/test/resources/io/steelyard/models");

  private static final int CONTEXT = 128;

  @TempDir Path directory;

  /**
   * Logits here span -12 to 12, and float32 in another order moves them by 1e-5. llama.cpp looks
   * GELU up in a table of float16, which moves them by up to 6e-3.
   *
   * <p>The weights in bfloat16 are converted to float32: llama.cpp would round activations to
   * bfloat16, too. It doesn't apply Phi-3's sliding window, here of 15 tokens, and says so; the
   * positions that see all before them are alike, and the next isn't.
   */
  @ParameterizedTest
  @CsvSource({
    "safetensors/gpt2, gpt2, 1e-2,",
    "safetensors/llama, llama, 1e-3,",
    "safetensors/llama-tied, llama, 1e-3,",
    "safetensors/mistral, llama, 1e-3,",
    "safetensors/qwen2, qwen2, 1e-3,",
    "safetensors/qwen3-bf16, qwen3, 1e-3,",
    "safetensors/gemma3, gemma3, 1e-2,",
    "safetensors/dream, dream, 1e-3,",
    "tiny/qwen2-yarn, qwen2, 1e-3,",
    "tiny/qwen3-moe, qwen3moe, 1e-3,",
    "tiny/gemma2, gemma2, 1e-2,",
    "tiny/phi3, phi3, 1e-3, 15",
    "tiny/phi3-longrope, phi3, 1e-3,",
    "tiny/smollm3, smollm3, 1e-3,",
    "tiny/olmo2, olmo2, 1e-3,",
  })
  void givesTheReferencesLogitsInLlamaCpp(
      String name, String architecture, double tolerance, Integer window) throws Exception {
    Path gguf = convert(name);
    int[] ids = ids(name);
    List<float[]> expected = reference(gguf, architecture, ids);
    List<float[]> found = llamaCpp(gguf, ids);

    int alike = window == null ? ids.length : window;
    for (int i = 0; i < alike; i++) {
      assertThat(found.get(i)).hasSameSizeAs(expected.get(i));
      assertThat(largestDifference(found.get(i), expected.get(i)))
          .as("position %d", i)
          .isLessThan(tolerance);
    }
    if (alike < ids.length) {
      assertThat(largestDifference(found.get(alike), expected.get(alike)))
          .as("llama.cpp applies the window now: compare all positions")
          .isGreaterThan(tolerance);
    }
  }

  private Path convert(String name) throws IOException {
    Path folder = Files.createDirectory(directory.resolve("model"));
    copy(MODELS.resolve(name), folder, "{config,*.index}.json");
    copy(MODELS.resolve(name), folder, "*.safetensors");
    copy(MODELS.resolve("safetensors"), folder, "tokenizer*.json");
    Path gguf = directory.resolve("model.gguf");
    try (SafetensorsModel model = SafetensorsModel.open(folder, DataType.F32)) {
      model.writeGguf(gguf, ProgressListener.NONE);
    }
    return gguf;
  }

  private static void copy(Path from, Path to, String pattern) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(from, pattern)) {
      for (Path file : files) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
  }

  private static int[] ids(String name) throws IOException {
    Path golden =
        MODELS.resolve("tiny").resolve(Path.of(name).getFileName()).resolve("golden.json");
    try (InputStream in = Files.newInputStream(golden)) {
      JsonNode ids = new JsonMapper().readTree(in).get("ids");
      return StreamSupport.stream(ids.spliterator(), false).mapToInt(JsonNode::asInt).toArray();
    }
  }

  private static List<float[]> reference(Path gguf, String architecture, int[] ids) {
    List<float[]> rows = new ArrayList<>();
    try (Kernels kernels = Kernels.of(Tier.REFERENCE, 1);
        Model model = Model.load(gguf, kernels);
        Session session = model.newSession(CONTEXT, DataType.F32)) {
      assertThat(model.metadata().string("general.architecture")).isEqualTo(architecture);
      session.forward(ids, 0, ids.length, row -> rows.add(row.toArray(ValueLayout.JAVA_FLOAT)));
    }
    return rows;
  }

  /** In one pass, so that a model that fills in masks, for which it keeps no cache, runs, too. */
  private static List<float[]> llamaCpp(Path gguf, int[] ids)
      throws EngineException, InterruptedException {
    Path libraries = Installed.installer().status().directory().orElseThrow();
    LlamaCppLibrary library = LoadedLibrary.load(libraries).library();
    LlamaCppOptions options =
        LlamaCppOptions.of(new LoadRequest(gguf.toString(), 1, CONTEXT, "f32", false, Map.of()));
    List<float[]> rows = new ArrayList<>();
    try (LlamaModel model = LlamaModel.load(library, gguf, options);
        LlamaContext context = new LlamaContext(library, model, options, CONTEXT, 1, ids.length)) {
      context.appendForAll(ids, 0, ids.length);
      for (int i = 0; i < ids.length; i++) {
        rows.add(context.logits(i).toArray(ValueLayout.JAVA_FLOAT));
      }
    }
    return rows;
  }

  private static double largestDifference(float[] a, float[] b) {
    return IntStream.range(0, a.length).mapToDouble(i -> Math.abs(a[i] - b[i])).max().orElse(0);
  }
}

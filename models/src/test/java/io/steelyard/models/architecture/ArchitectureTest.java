package io.steelyard.models.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.models.Model;
import io.steelyard.models.ModelException;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.gguf.GgufWriter;
import io.steelyard.models.gguf.Metadata;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a file of the Llama family must hold, and what is said when it doesn't. */
class ArchitectureTest {
  @TempDir Path directory;

  private final Map<String, Object> metadata = new LinkedHashMap<>();
  private final Map<String, long[]> tensors = new LinkedHashMap<>();

  ArchitectureTest() {
    metadata.put("general.architecture", "llama");
    metadata.put("llama.block_count", 1);
    metadata.put("llama.context_length", 128);
    metadata.put("llama.embedding_length", 32);
    metadata.put("llama.feed_forward_length", 48);
    metadata.put("llama.attention.head_count", 4);
    metadata.put("llama.attention.head_count_kv", 2);
    metadata.put("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    tensors.put("token_embd.weight", new long[] {32, 50});
    tensors.put("blk.0.attn_norm.weight", new long[] {32});
    tensors.put("blk.0.attn_q.weight", new long[] {32, 32});
    tensors.put("blk.0.attn_k.weight", new long[] {32, 16});
    tensors.put("blk.0.attn_v.weight", new long[] {32, 16});
    tensors.put("blk.0.attn_output.weight", new long[] {32, 32});
    tensors.put("blk.0.ffn_norm.weight", new long[] {32});
    tensors.put("blk.0.ffn_gate.weight", new long[] {32, 48});
    tensors.put("blk.0.ffn_up.weight", new long[] {32, 48});
    tensors.put("blk.0.ffn_down.weight", new long[] {48, 32});
    tensors.put("output_norm.weight", new long[] {32});
  }

  private Config load() {
    Path file = directory.resolve("model.gguf");
    GgufWriter writer = new GgufWriter(new Metadata("model.gguf", metadata));
    tensors.forEach(
        (name, dimensions) ->
            writer.add(name, DataType.F32, dimensions, (from, part) -> part.fill((byte) 0)));
    writer.write(file, ProgressListener.NONE);
    try (Kernels kernels = Kernels.of(Tier.REFERENCE, 1);
        Model model = Model.load(file, kernels)) {
      return model.config();
    }
  }

  private void assertRefused(String message) {
    assertThatThrownBy(this::load).isInstanceOf(ModelException.class).hasMessageContaining(message);
  }

  @Test
  void readsTheShapeWithItsDefaults() {
    Config config = load();
    assertThat(config.headDimension()).isEqualTo(8);
    assertThat(config.vocabulary()).isEqualTo(50);
    assertThat(config.epsilon()).isEqualTo(1e-5f);
  }

  @Test
  void headsMayBeWiderThanTheirShareOfTheHiddenSize() {
    metadata.put("llama.attention.key_length", 16);
    metadata.put("llama.attention.value_length", 16);
    tensors.put("blk.0.attn_q.weight", new long[] {32, 64});
    tensors.put("blk.0.attn_k.weight", new long[] {32, 32});
    tensors.put("blk.0.attn_v.weight", new long[] {32, 32});
    tensors.put("blk.0.attn_output.weight", new long[] {64, 32});
    assertThat(load().queryWidth()).isEqualTo(64);
  }

  @Test
  void otherArchitecturesAreNamedWithTheSupportedOnes() {
    metadata.put("general.architecture", "mamba");
    assertRefused("has the architecture 'mamba', which isn't supported; nearest to it are llama");
  }

  @Test
  void aMissingTensorIsNamed() {
    tensors.remove("blk.0.ffn_up.weight");
    assertRefused("has no tensor 'blk.0.ffn_up.weight'");
  }

  @Test
  void aTensorOfAnotherShapeIsNamedWithBothShapes() {
    tensors.put("blk.0.attn_k.weight", new long[] {32, 15});
    assertRefused(
        "tensor 'blk.0.attn_k.weight' is 15 × 32 where the model's configuration needs 16 × 32");
  }

  @Test
  void aTensorThatWouldBeIgnoredIsRefused() {
    tensors.put("blk.0.attn_q_norm.weight", new long[] {8});
    assertRefused("holds 1 tensors that the architecture 'llama' doesn't use");
  }

  @ParameterizedTest
  @CsvSource({
    "llama.block_count, 0, llama.block_count is 0 where a number from 1",
    "llama.block_count, 2147483647, llama.block_count is 2147483647 where a number from 1",
    "llama.block_count, 2, has no tensor 'blk.1.attn_norm.weight'",
    "llama.attention.head_count_kv, 3, 4 query heads for 3 key-value heads",
    "llama.attention.value_length, 4, keys have 8 values and its values 4",
    "llama.rope.dimension_count, 10, turns 10 of 8 values",
    "llama.rope.dimension_count, 7, turns 7 of 8 values",
    "llama.expert_count, 8, mixture of experts",
    "llama.embedding_length, 64, where the model's configuration needs 1 × 64"
  })
  void absurdValuesAreRefused(String key, int value, String message) {
    metadata.put(key, value);
    assertRefused(message);
  }

  @Test
  void absurdNumbersAreRefused() {
    metadata.put("llama.attention.layer_norm_rms_epsilon", Float.NaN);
    assertRefused("llama.attention.layer_norm_rms_epsilon is NaN where a positive number");
  }

  @Test
  void unknownScalingIsRefused() {
    metadata.put("llama.rope.scaling.type", "dynamic");
    assertRefused("scales its positions by 'dynamic'");
  }

  @Test
  void aModelWithoutTokenizerLoadsAndSaysSoWhenAsked() {
    Path file = directory.resolve("model.gguf");
    load();
    try (Kernels kernels = Kernels.of(Tier.REFERENCE, 1);
        Model model = Model.load(file, kernels)) {
      assertThatThrownBy(model::tokenizer).isInstanceOf(ModelException.class);
    }
  }
}

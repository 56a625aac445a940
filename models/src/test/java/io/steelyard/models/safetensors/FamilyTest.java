package io.steelyard.models.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.codec.Codec;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.gguf.Metadata;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the fixtures don't have: other families, other spellings, other types. */
class FamilyTest {
  @TempDir Path directory;

  private final List<String> header = new ArrayList<>();
  private final ByteArrayOutputStream data = new ByteArrayOutputStream();

  @Test
  void phi3KeepsFusedMatricesAndTheFactorsOfLongContexts() throws IOException {
    config(
        """
        {"model_type": "phi3", "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
         "num_key_value_heads": 2, "intermediate_size": 8, "max_position_embeddings": 4096,
         "original_max_position_embeddings": 1024, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
         "rope_scaling": {"type": "longrope", "long_factor": [1.5, 2, 3, 4],
                          "short_factor": [1, 1, 1.25, 1]}, "vocab_size": 8}
        """);
    tensor("model.layers.0.self_attn.qkv_proj.weight", 48, 16);
    tensor("model.layers.0.mlp.gate_up_proj.weight", 16, 16);
    save();

    try (ModelFile model = ModelFile.open(directory)) {
      Metadata metadata = model.metadata();
      assertThat(model.tensorNames())
          .containsExactlyInAnyOrder(
              "rope_factors_long.weight",
              "rope_factors_short.weight",
              "blk.0.attn_qkv.weight",
              "blk.0.ffn_up.weight");
      assertThat(values(model.require("rope_factors_long.weight"))).containsExactly(1.5f, 2, 3, 4);
      assertThat(metadata.integer("phi3.rope.scaling.original_context_length")).isEqualTo(1024);
      assertThat(metadata.integer("phi3.rope.dimension_count")).isEqualTo(8);
      assertThat(metadata.integer("phi3.attention.sliding_window")).isZero();
      // sqrt(1 + ln 4 / ln 1024)
      assertThat(metadata.real("phi3.rope.scaling.attn_factor")).isEqualTo((float) Math.sqrt(1.2));
    }
  }

  @Test
  void aStatedMagnitudeOfYarnTakesThePlaceOfThePapersAndOneOfOneToo() throws IOException {
    for (double stated : new double[] {1, 1.25}) {
      config(
          """
          {"model_type": "qwen2", "hidden_size": 16, "num_hidden_layers": 1,
           "num_attention_heads": 2, "intermediate_size": 8, "max_position_embeddings": 128,
           "rms_norm_eps": 1e-5, "vocab_size": 8, "rope_scaling": {"type": "yarn", "factor": 4,
           "original_max_position_embeddings": 32, "attention_factor": %s}}
          """
              .formatted(stated));
      tensor("model.layers.0.mlp.up_proj.weight", 8, 16);
      save();
      try (ModelFile model = ModelFile.open(directory)) {
        // What readers multiply 0.1 · ln(4) + 1 with.
        assertThat(model.metadata().real("qwen2.rope.scaling.attn_factor"))
            .isEqualTo((float) (stated / (1 + 0.1 * Math.log(4))));
        assertThat(model.metadata().has("qwen2.rope.scaling.yarn_attn_factor")).isFalse();
      }
      header.clear();
      data.reset();
    }
  }

  @Test
  void expertsBecomeOneTensorInTheirOrder() throws IOException {
    config(
        """
        {"model_type": "qwen3_moe", "hidden_size": 4, "num_hidden_layers": 1, "head_dim": 2,
         "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 6,
         "moe_intermediate_size": 2, "num_experts": 3, "num_experts_per_tok": 2,
         "max_position_embeddings": 64, "rms_norm_eps": 1e-6, "vocab_size": 8}
        """);
    for (int expert : new int[] {2, 0, 1}) {
      tensor("model.layers.0.mlp.experts.%d.gate_proj.weight".formatted(expert), 2, 4);
    }
    tensor("model.layers.0.mlp.gate.weight", 3, 4);
    save();

    try (ModelFile model = ModelFile.open(directory)) {
      Tensor experts = model.require("blk.0.ffn_gate_exps.weight");
      assertThat(experts.rows()).isEqualTo(6);
      // Values count up through the file, in which the last expert comes first.
      assertThat(values(experts)).startsWith(8, 9, 10).endsWith(5, 6, 7).hasSize(24);
      assertThat(model.metadata().integer("qwen3moe.expert_count")).isEqualTo(3);
      assertThat(model.metadata().integer("qwen3moe.expert_feed_forward_length")).isEqualTo(2);
    }
  }

  @Test
  void aMissingExpertIsRefused() throws IOException {
    config(
        """
        {"model_type": "qwen3_moe", "hidden_size": 4, "num_hidden_layers": 1, "num_experts": 3,
         "num_attention_heads": 2}
        """);
    tensor("model.layers.0.mlp.experts.0.up_proj.weight", 2, 4);
    tensor("model.layers.0.mlp.experts.2.up_proj.weight", 2, 4);
    save();

    assertThatThrownBy(() -> ModelFile.open(directory))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("'blk.0.ffn_up_exps.weight' needs the experts 0 to 2, and 2 are");
  }

  @Test
  void expertsWhoseWeightsDontSumToOneAreRefused() throws IOException {
    config(
        """
        {"model_type": "qwen3_moe", "hidden_size": 4, "num_hidden_layers": 1, "num_experts": 1,
         "num_attention_heads": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 2,
         "intermediate_size": 6, "max_position_embeddings": 64, "norm_topk_prob": false}
        """);
    tensor("model.norm.weight", 4);
    save();

    assertThatThrownBy(() -> ModelFile.open(directory))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("'norm_topk_prob' is false");
  }

  @Test
  void gemmaWithAnotherScaleIsRefused() throws IOException {
    config(
        """
        {"model_type": "gemma2", "hidden_size": 4, "num_hidden_layers": 1, "head_dim": 2,
         "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 6,
         "max_position_embeddings": 64, "vocab_size": 8, "query_pre_attn_scalar": 144}
        """);
    tensor("model.norm.weight", 4);
    save();

    assertThatThrownBy(() -> ModelFile.open(directory))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("'query_pre_attn_scalar' is 144.0; only 2 is supported");
  }

  @Test
  void smolLm3WithOtherLayersUnturnedIsRefused() throws IOException {
    config(
        """
        {"model_type": "smollm3", "hidden_size": 4, "num_hidden_layers": 4, "vocab_size": 8,
         "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 6,
         "max_position_embeddings": 64, "no_rope_layers": [1, 0, 1, 0]}
        """);
    tensor("model.norm.weight", 4);
    save();

    assertThatThrownBy(() -> ModelFile.open(directory))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("'no_rope_layers' says that layer 1 is not turned");
  }

  @Test
  void gemma2AddsOneToNormsAndLeavesTheSecondCopyOfTheEmbedding() throws IOException {
    config(
        """
        {"model_type": "gemma2", "hidden_size": 4, "num_hidden_layers": 1, "head_dim": 2,
         "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 6,
         "max_position_embeddings": 64, "rms_norm_eps": 1e-6, "attn_logit_softcapping": 50.0,
         "final_logit_softcapping": 30.0, "sliding_window": 16, "vocab_size": 8}
        """);
    tensor("model.layers.0.post_attention_layernorm.weight", 4);
    tensor("model.layers.0.pre_feedforward_layernorm.weight", 4);
    tensor("model.layers.0.post_feedforward_layernorm.weight", 4);
    tensor("lm_head.weight", 8, 4);
    save();

    try (ModelFile model = ModelFile.open(directory)) {
      assertThat(model.tensorNames())
          .containsExactly(
              "blk.0.post_attention_norm.weight",
              "blk.0.ffn_norm.weight",
              "blk.0.post_ffw_norm.weight");
      assertThat(values(model.require("blk.0.post_attention_norm.weight")))
          .containsExactly(1, 2, 3, 4);
      assertThat(model.metadata().real("gemma2.attn_logit_softcapping")).isEqualTo(50);
      assertThat(model.metadata().integer("gemma2.attention.sliding_window")).isEqualTo(16);
    }
  }

  @Test
  void olmo2NormsStandAfterAttentionAndItsHeadsStayAsTheyAre() throws IOException {
    config(
        """
        {"model_type": "olmo2", "hidden_size": 4, "num_hidden_layers": 1, "rope_theta": 500000,
         "num_attention_heads": 1, "intermediate_size": 6, "max_position_embeddings": 64,
         "rms_norm_eps": 1e-6, "vocab_size": 8}
        """);
    tensor("model.layers.0.self_attn.q_proj.weight", 4, 1);
    tensor("model.layers.0.self_attn.q_norm.weight", 4);
    tensor("model.layers.0.post_attention_layernorm.weight", 4);
    save();

    try (ModelFile model = ModelFile.open(directory)) {
      assertThat(values(model.require("blk.0.attn_q.weight"))).containsExactly(0, 1, 2, 3);
      assertThat(model.tensorNames())
          .contains("blk.0.attn_q_norm.weight", "blk.0.post_attention_norm.weight");
      assertThat(model.metadata().integer("olmo2.attention.head_count_kv")).isEqualTo(1);
    }
  }

  @Test
  void smollm3PairsTheHalvesOfItsHeads() throws IOException {
    config(
        """
        {"model_type": "smollm3", "hidden_size": 4, "num_hidden_layers": 1,
         "num_attention_heads": 1, "num_key_value_heads": 1, "intermediate_size": 6,
         "max_position_embeddings": 64, "rms_norm_eps": 1e-6, "vocab_size": 8,
         "rope_parameters": {"rope_theta": 5000000.0, "rope_type": "yarn", "factor": 2.0,
                             "original_max_position_embeddings": 32}}
        """);
    tensor("model.layers.0.self_attn.q_proj.weight", 4, 1);
    tensor("model.layers.0.self_attn.k_proj.bias", 4);
    save();

    try (ModelFile model = ModelFile.open(directory)) {
      assertThat(values(model.require("blk.0.attn_q.weight"))).containsExactly(0, 2, 1, 3);
      assertThat(values(model.require("blk.0.attn_k.bias"))).containsExactly(4, 6, 5, 7);
      assertThat(model.metadata().real("smollm3.rope.freq_base")).isEqualTo(5e6);
      assertThat(model.metadata().string("smollm3.rope.scaling.type")).isEqualTo("yarn");
      assertThat(model.metadata().integer("smollm3.rope.scaling.original_context_length"))
          .isEqualTo(32);
    }
  }

  @Test
  void gemma3ReadsItsTextPartAndThetasOfBothKindsOfLayers() throws IOException {
    config(
        """
        {"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 4,
         "num_hidden_layers": 1, "intermediate_size": 6, "sliding_window": 16, "vocab_size": 8,
         "rope_parameters": {"full_attention": {"rope_theta": 2000000.0, "rope_type": "linear",
                                                "factor": 8.0},
                             "sliding_attention": {"rope_theta": 20000.0}}}}
        """);
    tensor("language_model.model.embed_tokens.weight", 8, 4);
    tensor("vision_tower.vision_model.embeddings.patch_embedding.weight", 2, 3, 2, 2);
    tensor("multi_modal_projector.mm_soft_emb_norm.weight", 4);
    save();

    try (ModelFile model = ModelFile.open(directory)) {
      Metadata metadata = model.metadata();
      assertThat(model.tensorNames()).containsExactly("token_embd.weight");
      assertThat(metadata.real("gemma3.rope.freq_base")).isEqualTo(2e6);
      assertThat(metadata.real("gemma3.rope.freq_base_swa")).isEqualTo(2e4);
      assertThat(metadata.real("gemma3.rope.scaling.factor")).isEqualTo(8);
      assertThat(metadata.integer("gemma3.attention.head_count")).isEqualTo(8);
      assertThat(metadata.integer("gemma3.attention.key_length")).isEqualTo(256);
    }
  }

  @Test
  void masksThatOldGpt2FilesHoldAreLeftOut() throws IOException {
    config(
        """
        {"model_type": "gpt2", "n_embd": 4, "n_layer": 1, "n_head": 2, "n_ctx": 8,
         "layer_norm_epsilon": 1e-5, "vocab_size": 8}
        """);
    tensor("transformer.h.0.attn.bias", 1, 1, 8, 8);
    tensor("transformer.h.0.attn.c_attn.weight", 4, 12);
    tensor("transformer.wpe.weight", 8, 4);
    save();

    try (ModelFile model = ModelFile.open(directory)) {
      assertThat(model.tensorNames())
          .containsExactly("blk.0.attn_qkv.weight", "position_embd.weight");
      assertThat(model.require("blk.0.attn_qkv.weight").columns()).isEqualTo(4);
      assertThat(values(model.require("blk.0.attn_qkv.weight"))).startsWith(64, 76, 88, 100, 65);
    }
  }

  @Test
  void eightBitFloatsBecomeBfloat16() throws IOException {
    config(
        """
        {"model_type": "qwen2", "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1,
         "intermediate_size": 2, "max_position_embeddings": 64, "vocab_size": 8}
        """);
    bytes("model.layers.0.mlp.up_proj.weight", "F8_E4M3", new byte[] {0x38, 0x7E, 1, -72}, 1, 4);
    save();

    try (ModelFile model = ModelFile.open(directory)) {
      Tensor tensor = model.require("blk.0.ffn_up.weight");
      assertThat(tensor.type()).isEqualTo(DataType.BF16);
      assertThat(values(tensor)).containsExactly(1, 448, 0x1p-9f, -1);
      assertThat(model.metadata().integer("general.file_type")).isEqualTo(32);
    }
  }

  @Test
  void aQuantisedCheckpointIsRefused() throws IOException {
    config(
        """
        {"model_type": "llama", "quantization_config": {"quant_method": "gptq"}}
        """);
    save();

    assertThatThrownBy(() -> ModelFile.open(directory))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("config.json: the weights are quantised with 'gptq'");
  }

  @Test
  void positionsThatTheFamilyCantScaleSoAreRefused() throws IOException {
    config(
        """
        {"model_type": "qwen2", "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1,
         "intermediate_size": 2, "max_position_embeddings": 64, "vocab_size": 8,
         "rope_scaling": {"rope_type": "llama3", "factor": 8.0}}
        """);
    tensor("model.norm.weight", 4);
    save();

    assertThatThrownBy(() -> ModelFile.open(directory))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("config.json: the model scales its positions by 'llama3'");
  }

  @Test
  void aTensorOfAnotherFamilyIsRefused() throws IOException {
    config(
        """
        {"model_type": "qwen2", "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1}
        """);
    tensor("model.layers.1.mlp.up_proj.weight", 2, 4);
    save();

    assertThatThrownBy(() -> ModelFile.open(directory))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("tensor 'model.layers.1.mlp.up_proj.weight' is none that")
        .hasMessageContaining(directory.toString());
  }

  private void config(String json) throws IOException {
    Files.writeString(directory.resolve("config.json"), json);
  }

  /** A float32 tensor whose values count on from the one before. */
  private void tensor(String name, int... shape) {
    int count = Arrays.stream(shape).reduce(1, (a, b) -> a * b);
    ByteBuffer values = ByteBuffer.allocate(4 * count).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      values.putFloat(data.size() / 4f + i);
    }
    bytes(name, "F32", values.array(), shape);
  }

  private void bytes(String name, String type, byte[] content, int... shape) {
    header.add(
        "\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%d,%d]}"
            .formatted(
                name, type, Arrays.toString(shape), data.size(), data.size() + content.length));
    data.writeBytes(content);
  }

  private void save() throws IOException {
    byte[] json = ("{" + String.join(",", header) + "}").getBytes(StandardCharsets.UTF_8);
    Files.write(
        directory.resolve("model.safetensors"),
        ByteBuffer.allocate(8 + json.length + data.size())
            .order(ByteOrder.LITTLE_ENDIAN)
            .putLong(json.length)
            .put(json)
            .put(data.toByteArray())
            .array());
  }

  private static float[] values(Tensor tensor) {
    float[] values = new float[(int) (tensor.rows() * tensor.columns())];
    Codec.of(tensor.type()).decode(tensor.data(), 0, values, 0, values.length);
    return values;
  }
}

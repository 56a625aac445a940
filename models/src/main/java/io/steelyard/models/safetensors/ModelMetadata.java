package io.steelyard.models.safetensors;

import io.steelyard.kernels.DataType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;

/**
 * What GGUF says of a model's shape, from its configuration; the keys and types llama.cpp reads.
 */
final class ModelMetadata {
  /** Of so many layers of SmolLM3 the last turns nothing. */
  private static final int SMOLLM3_UNTURNED = 4;

  private final CheckpointConfig config;
  private final Family family;
  private final RopeConfig rope;
  private final Map<String, Object> values = new LinkedHashMap<>();

  private ModelMetadata(CheckpointConfig config, Family family) {
    this.config = config;
    this.family = family;
    this.rope = RopeConfig.of(config);
  }

  /**
   * The metadata but for the tokenizer's.
   *
   * @param name what to call the model
   * @param type of most weights
   */
  static Map<String, Object> of(
      CheckpointConfig config, Family family, String name, DataType type) {
    ModelMetadata metadata = new ModelMetadata(config, family);
    metadata.values.put("general.architecture", family.gguf());
    metadata.values.put("general.type", "model");
    metadata.values.put("general.name", name);
    metadata.values.put("general.file_type", fileType(type));
    metadata.values.put("general.quantization_version", 2);
    metadata.shape();
    if (family != Family.GPT2) {
      metadata.rope();
    }
    metadata.special();
    return metadata.values;
  }

  /** Number of transformer blocks. */
  static int layers(CheckpointConfig config) {
    return config.count("num_hidden_layers", "n_layer");
  }

  /** Number of query heads. */
  static int heads(CheckpointConfig config, Family family) {
    return family == Family.GEMMA3
        ? config.optionalCount("num_attention_heads").orElse(8)
        : config.count("num_attention_heads", "n_head");
  }

  /** Number of key-value heads. */
  static int keyValueHeads(CheckpointConfig config, Family family) {
    int usual = family == Family.GEMMA3 ? 4 : heads(config, family);
    return config.optionalCount("num_key_value_heads").orElse(usual);
  }

  /** Values of a head. */
  static int headDimension(CheckpointConfig config, Family family) {
    int hidden = config.count("hidden_size", "n_embd");
    int heads = heads(config, family);
    return config
        .optionalCount("head_dim")
        .orElse(family.usualHeadDimension(hidden, heads).orElse(Math.max(1, hidden / heads)));
  }

  /** {@code llama_ftype} in llama.cpp; what has no number there is called mostly F16. */
  private static int fileType(DataType type) {
    return switch (type) {
      case F32 -> 0;
      case Q4_0 -> 2;
      case Q8_0 -> 7;
      case BF16 -> 32;
      default -> 1;
    };
  }

  private void put(String key, Object value) {
    values.put(family.gguf() + "." + key, value);
  }

  private void shape() {
    int hidden = config.count("hidden_size", "n_embd");
    put("block_count", layers(config));
    put("context_length", context());
    put("embedding_length", hidden);
    put(
        "feed_forward_length",
        family == Family.GPT2
            ? config.optionalCount("n_inner").orElse(4 * hidden)
            : config.count("intermediate_size"));
    put("attention.head_count", heads(config, family));
    if (family == Family.GPT2) {
      put("attention.layer_norm_epsilon", (float) epsilon("layer_norm_epsilon"));
      return;
    }
    put("attention.head_count_kv", keyValueHeads(config, family));
    put("attention.layer_norm_rms_epsilon", (float) epsilon("rms_norm_eps"));
    OptionalInt given = config.optionalCount("head_dim");
    if (given.isPresent() || family.usualHeadDimension(hidden, heads(config, family)).isPresent()) {
      put("attention.key_length", headDimension(config, family));
      put("attention.value_length", headDimension(config, family));
    }
  }

  private int context() {
    OptionalInt given = config.optionalCount("max_position_embeddings", "n_ctx", "n_positions");
    return given.isEmpty() && family == Family.GEMMA3
        ? 131_072
        : given.orElseGet(() -> config.count("max_position_embeddings"));
  }

  private double epsilon(String name) {
    return config.positive(name).orElse(family == Family.GPT2 ? 1e-5 : 1e-6);
  }

  private void rope() {
    put("rope.freq_base", (float) rope.theta().orElse(family.usualTheta()));
    if (family == Family.GEMMA3) {
      put("rope.freq_base_swa", (float) rope.slidingTheta().orElse(10_000));
    }
    switch (rope.type()) {
      case "linear" -> {
        put("rope.scaling.type", "linear");
        put("rope.scaling.factor", (float) rope.number(config, "factor", 1));
      }
      case "yarn" -> yarn();
      case "", "default" -> {}
      default -> {
        boolean longRope = rope.type().equals("longrope") || rope.type().equals("su");
        boolean factors = rope.type().equals("llama3") && family.permutesHeads();
        if (longRope && family == Family.PHI3) {
          put("rope.scaling.type", "longrope");
        } else if (!factors) { // Llama 3's are a tensor
          throw config.fault(
              "the model scales its positions by '%s', which isn't supported for %s"
                  .formatted(rope.type(), family.gguf()));
        }
      }
    }
    if (family == Family.PHI3) {
      put("rope.scaling.original_context_length", PhiRope.originalContext(config, rope));
      put("rope.dimension_count", PhiRope.dimensions(config, rope));
      PhiRope.attentionFactor(config, rope)
          .ifPresent(factor -> put("rope.scaling.attn_factor", (float) factor));
    } else if (family.permutesHeads()) {
      put("rope.dimension_count", headDimension(config, family));
    }
  }

  private void yarn() {
    put("rope.scaling.type", "yarn");
    double factor = rope.number(config, "factor", 1);
    put("rope.scaling.factor", (float) factor);
    // What a configuration states takes the place of the paper's magnitude; in GGUF it multiplies.
    config
        .positive(rope.parameters().path("attention_factor"), "attention_factor")
        .ifPresent(
            stated ->
                put("rope.scaling.attn_factor", (float) (stated / (1 + 0.1 * Math.log(factor)))));
    OptionalDouble original = rope.originalContext(config);
    put(
        "rope.scaling.original_context_length",
        (int)
            original.orElseThrow(
                () -> config.fault("'original_max_position_embeddings' is missing for YaRN")));
    for (String[] names :
        new String[][] {
          {"extrapolation_factor", "yarn_ext_factor"},
          {"beta_fast", "yarn_beta_fast"},
          {"beta_slow", "yarn_beta_slow"}
        }) {
      config
          .positive(rope.parameters().path(names[0]), names[0])
          .ifPresent(value -> put("rope.scaling." + names[1], (float) value));
    }
  }

  /** What one family alone says. */
  private void special() {
    switch (family) {
      case LLAMA -> put("vocab_size", config.count("vocab_size"));
      case SMOLLM3 -> {
        requireEveryFourthUnturned();
        put("vocab_size", config.count("vocab_size"));
      }
      case GEMMA2 -> {
        requireUsualScale(46);
        put("attn_logit_softcapping", (float) config.positive("attn_logit_softcapping").orElse(50));
        put(
            "final_logit_softcapping",
            (float) config.positive("final_logit_softcapping").orElse(30));
        put("attention.sliding_window", config.optionalCount("sliding_window").orElse(4096));
      }
      case GEMMA3 -> {
        requireUsualScale(62);
        config
            .positive("final_logit_softcapping")
            .ifPresent(value -> put("final_logit_softcapping", (float) value));
        put("attention.sliding_window", config.optionalCount("sliding_window").orElse(4096));
      }
      // A window of 0 tells the models of this family that have none.
      case PHI3 ->
          put("attention.sliding_window", config.optionalCount("sliding_window").orElse(0));
      case QWEN3_MOE -> {
        if (!config.node("norm_topk_prob").asBoolean(true)) {
          throw config.fault(
              "the experts' weights don't sum to 1 ('norm_topk_prob' is false); that isn't supported");
        }
        put("expert_count", config.count("num_experts", "num_local_experts"));
        put("expert_used_count", config.count("num_experts_per_tok"));
        put("expert_feed_forward_length", config.count("moe_intermediate_size"));
      }
      case DREAM -> put("attention.causal", false);
      case GPT2, QWEN2, QWEN3, OLMO2 -> {}
    }
    if (family == Family.OLMO2 && config.optionalCount("sliding_window").isPresent()) {
      throw config.fault("the model has layers with a window, as Olmo 3; that isn't supported");
    }
  }

  /**
   * GGUF has no word for how Gemma scales scores: by the head's width, but in the models of so many
   * layers by what would be a head's share of the hidden state.
   */
  private void requireUsualScale(int layersOfLarge) {
    int usual =
        config.count("num_hidden_layers") == layersOfLarge
            ? config.count("hidden_size") / config.count("num_attention_heads")
            : headDimension(config, family);
    double scalar = config.positive("query_pre_attn_scalar").orElse(usual);
    if (scalar != usual) {
      throw config.fault(
          "'query_pre_attn_scalar' is %s; only %d is supported for a model of this shape"
              .formatted(scalar, usual));
    }
  }

  /** GGUF has no word for which of SmolLM3's layers turn nothing: it is always every fourth. */
  private void requireEveryFourthUnturned() {
    JsonNode turned = config.node("no_rope_layers");
    for (int layer = 0; layer < turned.size(); layer++) {
      boolean turns = turned.get(layer).asInt(0) != 0;
      if (turns != ((layer + 1) % SMOLLM3_UNTURNED != 0)) {
        throw config.fault(
            "'no_rope_layers' says that layer %d is %sturned; only models whose every fourth layer isn't are supported"
                .formatted(layer, turns ? "" : "not "));
      }
    }
  }
}

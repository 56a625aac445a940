package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names of tensors in GGUF by their names in a checkpoint. */
final class TensorNames {
  private static final Pattern LAYER =
      Pattern.compile("(?:layers|h)\\.(\\d{1,9})\\.(.+)\\.(weight|bias)");

  private static final Pattern EXPERT =
      Pattern.compile("mlp\\.experts\\.(\\d{1,9})\\.(gate|up|down)_proj");

  private static final Map<String, String> WHOLE =
      Map.of(
          "embed_tokens.weight", "token_embd.weight",
          "norm.weight", "output_norm.weight",
          "lm_head.weight", "output.weight",
          "wte.weight", "token_embd.weight",
          "wpe.weight", "position_embd.weight",
          "ln_f.weight", "output_norm.weight",
          "ln_f.bias", "output_norm.bias");

  private static final Map<String, String> IN_LAYER =
      Map.ofEntries(
          Map.entry("input_layernorm", "attn_norm"),
          Map.entry("self_attn.q_proj", "attn_q"),
          Map.entry("self_attn.k_proj", "attn_k"),
          Map.entry("self_attn.v_proj", "attn_v"),
          Map.entry("self_attn.qkv_proj", "attn_qkv"),
          Map.entry("self_attn.o_proj", "attn_output"),
          Map.entry("self_attn.q_norm", "attn_q_norm"),
          Map.entry("self_attn.k_norm", "attn_k_norm"),
          Map.entry("pre_feedforward_layernorm", "ffn_norm"),
          Map.entry("post_feedforward_layernorm", "post_ffw_norm"),
          Map.entry("mlp.gate", "ffn_gate_inp"),
          Map.entry("mlp.gate_proj", "ffn_gate"),
          Map.entry("mlp.up_proj", "ffn_up"),
          Map.entry("mlp.gate_up_proj", "ffn_up"),
          Map.entry("mlp.down_proj", "ffn_down"),
          Map.entry("ln_1", "attn_norm"),
          Map.entry("attn.c_attn", "attn_qkv"),
          Map.entry("attn.c_proj", "attn_output"),
          Map.entry("ln_2", "ffn_norm"),
          Map.entry("mlp.c_fc", "ffn_up"),
          Map.entry("mlp.c_proj", "ffn_down"));

  /**
   * What becomes of a tensor.
   *
   * @param name in GGUF
   * @param expert which part of the tensor of that name it is, or -1 for all of it
   */
  record Target(String name, int expert) {}

  private final String source;
  private final Family family;

  /**
   * The names of a family.
   *
   * @param source what messages call the checkpoint
   */
  TensorNames(String source, Family family) {
    this.source = source;
    this.family = family;
  }

  /**
   * Where a tensor goes; nowhere if no model computes with it.
   *
   * @throws ModelException if the family has no such tensor
   */
  Optional<Target> target(String stored, int layers) {
    String name = stored.replace("language_model.", "");
    if (isUnused(name)) {
      return Optional.empty();
    }
    name = name.replaceFirst("^(model|transformer)\\.", "");
    String whole = WHOLE.get(name);
    if (whole != null) {
      // The output of these is always the embedding; some tools store it a second time.
      boolean again = family.storesNormsLessOne() && name.equals("lm_head.weight");
      return again ? Optional.empty() : Optional.of(new Target(whole, -1));
    }
    Matcher matcher = LAYER.matcher(name);
    if (!matcher.matches() || Integer.parseInt(matcher.group(1)) >= layers) {
      throw unknown(stored);
    }
    String block = "blk." + Integer.parseInt(matcher.group(1)) + ".";
    String part = matcher.group(2);
    String kind = "." + matcher.group(3);
    Matcher expert = EXPERT.matcher(part);
    if (family == Family.QWEN3_MOE && expert.matches()) {
      return Optional.of(
          new Target(
              block + "ffn_" + expert.group(2) + "_exps" + kind,
              Integer.parseInt(expert.group(1))));
    }
    String mapped =
        part.equals("post_attention_layernorm")
            ? family.normsAfterAttention() ? "post_attention_norm" : "ffn_norm"
            : IN_LAYER.get(part);
    if (mapped == null) {
      throw unknown(stored);
    }
    return Optional.of(new Target(block + mapped + kind, -1));
  }

  private boolean isUnused(String name) {
    boolean mask = name.endsWith(".attn.bias") || name.endsWith(".attn.masked_bias");
    boolean vision = name.matches("(model\\.)?(vision_tower|multi_modal_projector)\\..*");
    return name.endsWith(".rotary_emb.inv_freq")
        || (family == Family.GPT2 && mask)
        || (family == Family.GEMMA3 && vision);
  }

  private ModelException unknown(String stored) {
    return new ModelException(
        "%s: tensor '%s' is none that a model of the family %s has; it would be computed wrongly, so it is refused"
            .formatted(source, printable(stored), family.gguf()));
  }
}

package io.steelyard.models.architecture;

import io.steelyard.models.ModelFile;
import java.util.EnumMap;
import java.util.Map;

/** The parts of a model that its bytes are counted by. */
public enum ModelPart {
  EMBEDDING("embedding"),
  ATTENTION("attention"),
  FEED_FORWARD("feed-forward"),
  EXPERTS("experts"),
  NORMS("norms"),
  OUTPUT("output"),
  OTHER("other");

  private final String label;

  ModelPart(String label) {
    this.label = label;
  }

  /** What people call it. */
  public String label() {
    return label;
  }

  /** The part that a tensor belongs to, by its name in GGUF. */
  static ModelPart of(String tensor) {
    if (tensor.contains("norm")) {
      return NORMS;
    }
    if (tensor.matches("(token_embd|position_embd|token_types)\\..*")) {
      return EMBEDDING;
    }
    if (tensor.startsWith("output.")) {
      return OUTPUT;
    }
    if (tensor.matches("blk\\.\\d+\\.ffn_(\\w+_exps|gate_inp)\\..*")) {
      return EXPERTS;
    }
    if (tensor.matches("blk\\.\\d+\\.ffn_.*")) {
      return FEED_FORWARD;
    }
    return tensor.matches("blk\\.\\d+\\.attn_.*") ? ATTENTION : OTHER;
  }

  /** Bytes of a model by part; parts that it hasn't are left out. */
  public static Map<ModelPart, Long> bytes(ModelFile file) {
    Map<ModelPart, Long> bytes = new EnumMap<>(ModelPart.class);
    file.bytesByTensor().forEach((name, size) -> bytes.merge(of(name), size, Long::sum));
    return bytes;
  }
}

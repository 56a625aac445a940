package io.steelyard.lab.worker;

import java.util.List;
import java.util.Map;

/**
 * What a load did. The settings are read back from the loaded model, never echoed from the request:
 * the fairness sheet is made of them.
 *
 * @param phases nanoseconds by phase, in order: {@code library}, {@code load}, {@code compile}
 * @param bytes bytes by part: {@code weights}, {@code kv}, {@code activations}, {@code other}
 * @param libraries native libraries now loaded
 * @param settings what is in force
 */
public record LoadReport(
    Map<String, Long> phases,
    Map<String, Long> bytes,
    List<EngineInfo.NativeLibrary> libraries,
    Settings settings) {

  /**
   * What is in force after a load.
   *
   * @param weights precision of the weight matrices, by the share of parameters, such as {@code
   *     Q4_1 79% + Q8_0 21%}
   * @param kv type of the KV cache
   * @param activations how activations are multiplied, such as {@code f32} or {@code int8 per 32}
   * @param threads compute threads
   * @param affinity the processors the engine may run on, such as {@code 0-1}
   * @param batch the most tokens in one pass
   * @param context tokens the KV cache holds
   * @param flashAttention whether flash attention is used
   * @param vocabulary the number of logits a position
   * @param layers the number of transformer layers, 0 where unknown
   * @param parameters the number of weights, 0 where unknown
   */
  public record Settings(
      String weights,
      String kv,
      String activations,
      int threads,
      String affinity,
      int batch,
      int context,
      boolean flashAttention,
      int vocabulary,
      int layers,
      long parameters) {}
}

package io.steelyard.models.architecture;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.ModelFile;
import java.util.stream.Stream;

/**
 * What memory a model takes at least, predicted from the shapes in its file: what is measured
 * stands beside it.
 *
 * @param weights bytes of all tensors as they lie in the file
 * @param keyValues bytes of the KV cache
 * @param activations bytes of a pass's activations and of the logits that are computed at a time;
 *     without the scratch memory of kernels
 */
public record ModelMemory(long weights, long keyValues, long activations) {
  /** Positions whose logits are computed at a time. */
  private static final int LOGIT_ROWS = 32;

  /**
   * Predicts.
   *
   * @param context positions of the cache
   * @param kv type of the cache
   * @param batch tokens of a pass at most
   */
  public static ModelMemory of(ModelFile file, long context, DataType kv, long batch) {
    Config config =
        Config.of(
            file.metadata(),
            file.metadata().string("general.architecture"),
            file.require("token_embd.weight").rows());
    long values = ModelCost.of(file).keyValues() * context;
    // Hidden state, its norm and what is added to it; queries, keys, values and what was attended,
    // or gate and up.
    long width =
        3L * config.hidden()
            + Math.max(2L * (config.queryWidth() + config.kvWidth()), inner(file, config));
    long logits = Math.min(batch, LOGIT_ROWS) * config.vocabulary();
    return new ModelMemory(
        file.bytesByType().values().stream().mapToLong(Long::longValue).sum(),
        Math.ceilDiv(values, kv.blockSize()) * kv.blockBytes(),
        Float.BYTES * (batch * width + logits));
  }

  /** What a block's feed-forward part computes of a token before its last matrix. */
  private static long inner(ModelFile file, Config config) {
    long rows =
        Stream.of("ffn_gate", "ffn_up")
            .flatMap(part -> file.tensor("blk.0." + part + ".weight").stream())
            .mapToLong(Tensor::rows)
            .sum();
    return rows == 0 ? 2L * config.feedForward() : rows;
  }
}

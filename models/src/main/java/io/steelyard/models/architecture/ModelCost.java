package io.steelyard.models.architecture;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Roofline;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.gguf.WeightPrecision;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a model's tokens cost at least: bytes that are read and multiply-and-add operations, counted
 * from the shapes in its file. Looking up an embedding is neither, and vectors (norms, biases) are
 * a thousandth of the weights: both are left out.
 *
 * @param layerBytes bytes of all layers' matrices
 * @param outputBytes bytes of the output matrix, which is the embedding where they are tied
 * @param layerProducts operations of all layers' matrices on one token
 * @param outputProducts operations of the output matrix on one token
 * @param keyValues values of one position in the KV cache, all layers, keys and values
 * @param attentionProducts operations of a token's attention to one position, all layers: each
 *     query head's product with the key, and the value's with its weight
 * @param limit what {@link Roofline#limit} says of most of the parameters
 */
public record ModelCost(
    long layerBytes,
    long outputBytes,
    long layerProducts,
    long outputProducts,
    long keyValues,
    long attentionProducts,
    String limit) {

  /**
   * Values of one position in the KV cache, all layers, keys and values.
   *
   * @throws ModelException if the file doesn't state a shape that Steelyard supports
   */
  public static long keyValues(ModelFile file) {
    return keyValues(config(file));
  }

  private static long keyValues(Config config) {
    return 2L * config.kvWidth() * config.layers();
  }

  private static Config config(ModelFile file) {
    return Config.of(
        file.metadata(),
        file.metadata().string("general.architecture"),
        file.require("token_embd.weight").rows());
  }

  /**
   * Counts.
   *
   * @throws ModelException if the file doesn't state a shape that Steelyard supports
   */
  public static ModelCost of(ModelFile file) {
    Tensor embedding = file.require("token_embd.weight");
    Tensor output = file.tensor("output.weight").orElse(embedding);
    List<Tensor> layers =
        file.tensors().stream()
            .filter(tensor -> tensor.rows() > 1 && tensor.name().startsWith("blk."))
            .toList();
    Config config = config(file);
    return new ModelCost(
        layers.stream().mapToLong(Tensor::bytes).sum(),
        output.bytes(),
        layers.stream().mapToLong(tensor -> tensor.rows() * tensor.columns()).sum(),
        output.rows() * output.columns(),
        keyValues(config),
        2L * config.queryWidth() * config.layers(),
        limit(layers.isEmpty() ? List.of(output) : layers));
  }

  private static String limit(List<Tensor> matrices) {
    Map<String, Long> parameters = new HashMap<>();
    WeightPrecision.parameters(matrices)
        .forEach((type, count) -> parameters.merge(Roofline.limit(type), count, Long::sum));
    return parameters.entrySet().stream()
        .max(Map.Entry.comparingByValue())
        .map(Map.Entry::getKey)
        .orElse(Roofline.limit(DataType.F32));
  }
}

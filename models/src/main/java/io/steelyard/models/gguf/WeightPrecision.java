package io.steelyard.models.gguf;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The precision in which a model's weight matrices are stored. Norms, biases and other vectors are
 * left out: files of every precision keep them in float32, and they are a thousandth of the
 * weights.
 */
public final class WeightPrecision {
  private WeightPrecision() {}

  /** Parameters in matrices by type, in the order of {@link DataType}. */
  public static Map<DataType, Long> parameters(Collection<Tensor> tensors) {
    Map<DataType, Long> parameters = new EnumMap<>(DataType.class);
    for (Tensor tensor : tensors) {
      if (tensor.rows() > 1) {
        parameters.merge(tensor.type(), tensor.rows() * tensor.columns(), Long::sum);
      }
    }
    return Collections.unmodifiableMap(parameters);
  }

  /**
   * Each type's share of the parameters, the largest first: {@code Q4_1 79% + Q8_0 21%}; the type
   * alone where there is but one; {@code none} without matrices.
   */
  public static String describe(Collection<Tensor> tensors) {
    Map<DataType, Long> parameters = parameters(tensors);
    if (parameters.size() <= 1) {
      return parameters.keySet().stream().findFirst().map(DataType::name).orElse("none");
    }
    double all = parameters.values().stream().mapToLong(Long::longValue).sum();
    return parameters.entrySet().stream()
        .sorted(Map.Entry.<DataType, Long>comparingByValue(Comparator.reverseOrder()))
        .map(entry -> entry.getKey() + " " + percent(entry.getValue() / all))
        .collect(Collectors.joining(" + "));
  }

  private static String percent(double share) {
    long percent = Math.round(100 * share);
    if (percent == 0) {
      return "<1%";
    }
    return percent == 100 ? ">99%" : percent + "%";
  }
}

package io.steelyard.lab.parity;

import io.steelyard.lab.worker.FloatRows;
import java.util.ArrayList;
import java.util.List;

/**
 * How far one layer's output is from the oracle's.
 *
 * @param name the layer
 * @param relativeError Frobenius norm of the difference over that of the oracle
 * @param maxAbs largest difference of a value
 */
public record LayerComparison(String name, double relativeError, double maxAbs) {

  /**
   * Compares all layers.
   *
   * @param names of the layers, in order
   * @param positions rows of each layer
   * @param oracle [layers × positions, width]
   * @param engine likewise
   * @throws IllegalArgumentException if the shapes disagree
   */
  public static List<LayerComparison> of(
      List<String> names, long positions, FloatRows oracle, FloatRows engine) {
    if (oracle.rows() != engine.rows() || oracle.width() != engine.width()) {
      throw new IllegalArgumentException(
          "layers of [%d, %d] against [%d, %d]"
              .formatted(engine.rows(), engine.width(), oracle.rows(), oracle.width()));
    }
    List<LayerComparison> layers = new ArrayList<>();
    for (int layer = 0; layer < names.size(); layer++) {
      double squares = 0;
      double differences = 0;
      double largest = 0;
      for (long row = layer * positions; row < (layer + 1) * positions; row++) {
        float[] a = oracle.row(row);
        float[] b = engine.row(row);
        for (int i = 0; i < a.length; i++) {
          double difference = Math.abs((double) a[i] - b[i]);
          squares += (double) a[i] * a[i];
          differences += difference * difference;
          largest = Math.max(largest, difference); // NaN stays
        }
      }
      layers.add(
          new LayerComparison(
              names.get(layer), differences == 0 ? 0 : Math.sqrt(differences / squares), largest));
    }
    return layers;
  }
}

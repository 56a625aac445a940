package io.steelyard.kernels;

import java.util.Locale;

/** What a feed-forward network's gate goes through: {@code x · sigmoid(curve(x))}. */
public enum Activation {
  /** The sigmoid linear unit: the curve is x itself. */
  SILU,
  /**
   * The Gaussian error linear unit by its usual approximation with tanh: the curve is {@code
   * 2·√(2/π) · (x + 0.044715·x³)}. Source: Hendrycks and Gimpel, "Gaussian Error Linear Units"
   * (2016).
   */
  GELU;

  /** Of the cube in {@link #GELU}. */
  public static final float CUBE = 0.044715f;

  /** {@code 2·√(2/π)}. */
  public static final float SLOPE = 1.5957692f;

  /** The name in records. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  double apply(double x) {
    double curve = this == SILU ? x : SLOPE * (x + CUBE * x * x * x);
    return x / (1 + Math.exp(-curve));
  }
}

package io.steelyard.kernels;

import java.lang.foreign.Arena;

/**
 * Rotary position embedding: turns pairs of a head's values by angles that grow with the position.
 *
 * <p>Source: Su et al., "RoFormer" (2021); the frequency factors are those of Llama 3.1.
 */
public final class Rope {
  /** Which values of a head form pair i. */
  public enum Layout {
    /** Values 2i and 2i+1: GGUF files of Llama, whose query and key rows are permuted for it. */
    INTERLEAVED,
    /** Values i and i + n/2, n the values turned: GPT-NeoX and most other families. */
    SPLIT
  }

  private final Layout layout;
  private final double[] frequencies;
  private final double magnitude;

  /**
   * Describes a rotation.
   *
   * @param layout which values form a pair
   * @param dimensions how many of a head's values are turned, even; the rest pass
   * @param theta base of the frequencies
   * @param scale multiplies every position: 1, or the inverse of a linear scaling factor
   * @param factors divide the frequencies, one a pair; empty for none
   */
  public Rope(Layout layout, int dimensions, double theta, double scale, float[] factors) {
    if (dimensions < 2 || dimensions % 2 != 0) {
      throw new IllegalArgumentException("rope can't turn " + dimensions + " values");
    }
    if (factors.length != 0 && factors.length != dimensions / 2) {
      throw new IllegalArgumentException(
          factors.length + " rope factors where " + dimensions / 2 + " are needed");
    }
    this.layout = layout;
    this.frequencies = frequencies(dimensions, theta);
    for (int i = 0; i < frequencies.length; i++) {
      double factor = factors.length == 0 ? 1 : factors[i];
      frequencies[i] *= scale / factor;
    }
    magnitude = 1;
  }

  /**
   * Describes a rotation.
   *
   * @param frequencies of the pairs: a position times one is the angle
   * @param magnitude multiplies what is turned
   */
  public Rope(Layout layout, double[] frequencies, double magnitude) {
    this.layout = layout;
    this.frequencies = frequencies.clone();
    this.magnitude = magnitude;
  }

  /** The same rotation, which also multiplies what it turns. */
  public Rope magnified(double magnitude) {
    return new Rope(layout, frequencies, magnitude);
  }

  /** The frequencies of RoFormer, {@code theta^(-2i/dimensions)}. */
  public static double[] frequencies(int dimensions, double theta) {
    double[] frequencies = new double[dimensions / 2];
    for (int i = 0; i < frequencies.length; i++) {
      frequencies[i] = Math.pow(theta, -2.0 * i / dimensions);
    }
    return frequencies;
  }

  public Layout layout() {
    return layout;
  }

  /** How many of a head's values are turned. */
  public int dimensions() {
    return 2 * frequencies.length;
  }

  /** Room for the angles of so many tokens, for {@link #angles}. */
  public Rows allocateAngles(Arena arena, int tokens) {
    return Rows.allocate(arena, tokens, dimensions());
  }

  /**
   * Computes cosines and sines of consecutive positions, once for all layers.
   *
   * @param position of the first token
   * @param out row i receives the cosines of all pairs, then the sines
   */
  public void angles(int position, int tokens, Rows out) {
    out.require("rope angles", dimensions(), tokens);
    int pairs = frequencies.length;
    for (int token = 0; token < tokens; token++) {
      for (int i = 0; i < pairs; i++) {
        double angle = (double) (position + token) * frequencies[i];
        out.set(token, i, (float) (magnitude * Math.cos(angle)));
        out.set(token, pairs + i, (float) (magnitude * Math.sin(angle)));
      }
    }
  }
}

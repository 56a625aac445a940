package io.steelyard.models.architecture;

import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Rows;
import java.util.Optional;

/**
 * A norm with its weights.
 *
 * @param kind what is divided by
 * @param weight as wide as what is normed together: the hidden state, or a head
 * @param bias of a layer norm, where it has one
 * @param epsilon added to the mean square
 */
record Norm(Kind kind, Rows weight, Optional<Rows> bias, float epsilon) {
  enum Kind {
    /** The root of the mean square. Source: Zhang and Sennrich (2019). */
    RMS,
    /** The standard deviation, around the mean. Source: Ba, Kiros and Hinton (2016). */
    LAYER
  }

  /** Norms rows of x to y, which may be x. */
  void apply(Kernels kernels, Rows x, Rows y, int tokens) {
    if (kind == Kind.RMS) {
      kernels.rmsNorm(x, weight, epsilon, y, tokens);
    } else {
      kernels.layerNorm(x, weight, epsilon, y, tokens);
    }
    if (bias.isPresent()) {
      kernels.addBias(y, bias.get(), tokens);
    }
  }
}

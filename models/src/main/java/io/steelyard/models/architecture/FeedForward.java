package io.steelyard.models.architecture;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.Matrix;
import io.steelyard.kernels.Rows;
import java.util.List;
import java.util.Optional;

/** A block's feed-forward part with its weights. */
sealed interface FeedForward {
  /** Width of the widest product. */
  int inner();

  /**
   * Two layers with an activation between.
   *
   * @param up to the inner width
   * @param down back to the width of the hidden state
   */
  record Plain(
      Matrix up, Optional<Rows> upBias, Activation activation, Matrix down, Optional<Rows> downBias)
      implements FeedForward {
    @Override
    public int inner() {
      return up.rows();
    }
  }

  /**
   * {@code down · (activation(gate · x) × (up · x))}. Source: Shazeer, "GLU variants improve
   * transformer" (2020).
   *
   * @param gateUp rows of the gate, then as many of up
   */
  record Gated(Matrix gateUp, Activation activation, Matrix down) implements FeedForward {
    @Override
    public int inner() {
      return gateUp.rows();
    }
  }

  /**
   * A mixture: each token goes through the few experts that its router scores highest, weighted by
   * the softmax over those scores. Source: Shazeer et al., "Outrageously large neural networks"
   * (2017).
   *
   * @param router rows of one score an expert
   * @param used experts of a token
   */
  record Mixture(Matrix router, List<Gated> experts, int used) implements FeedForward {
    @Override
    public int inner() {
      return experts.getFirst().inner();
    }
  }
}

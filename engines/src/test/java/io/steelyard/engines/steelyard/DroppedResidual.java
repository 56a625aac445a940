package io.steelyard.engines.steelyard;

import io.steelyard.kernels.ForwardingKernels;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Matrix;
import io.steelyard.kernels.Rows;

/**
 * Kernels that forget the residual stream once a pass, after the first layer's feed-forward part.
 */
final class DroppedResidual extends ForwardingKernels {
  private static final int FIRST_FEED_FORWARD = 2;

  private int additions;

  DroppedResidual(Kernels right) {
    super(right);
  }

  @Override
  public void add(Rows x, Rows delta, int tokens) {
    if (++additions == FIRST_FEED_FORWARD) {
      for (int i = 0; i < tokens; i++) {
        x.row(i).copyFrom(delta.row(i));
      }
    } else {
      kernels.add(x, delta, tokens);
    }
  }

  @Override
  public void embed(Matrix table, int[] ids, int from, int tokens, Rows out) {
    additions = 0; // a pass begins
    kernels.embed(table, ids, from, tokens, out);
  }
}

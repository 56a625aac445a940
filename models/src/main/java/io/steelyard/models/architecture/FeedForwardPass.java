package io.steelyard.models.architecture;

import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Rows;
import io.steelyard.models.architecture.FeedForward.Gated;
import io.steelyard.models.architecture.FeedForward.Mixture;
import io.steelyard.models.architecture.FeedForward.Plain;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** A feed-forward part with the memory of a pass. */
@FunctionalInterface
interface FeedForwardPass {
  /** Computes {@code out = part(x)}; out must not overlap x. */
  void run(Rows x, Rows out, int tokens);

  /** The largest inner width of a model's blocks. */
  static int inner(List<Block> blocks) {
    return blocks.stream().mapToInt(block -> block.feedForward().inner()).max().orElseThrow();
  }

  /**
   * The parts of a model's blocks, which share their memory.
   *
   * @param inner rows at least as wide as the largest inner width
   * @param rows allocates as many rows as a pass has tokens, of a width
   */
  static List<FeedForwardPass> of(
      Kernels kernels, List<Block> blocks, Rows inner, IntFunction<Rows> rows) {
    List<FeedForwardPass> passes = new ArrayList<>();
    for (Block block : blocks) {
      passes.add(
          switch (block.feedForward()) {
            case Plain plain -> plain(kernels, plain, inner.columns(0, plain.inner()));
            case Gated gated -> gated(kernels, gated, inner);
            case Mixture mixture ->
                passes.isEmpty()
                    ? new MixturePass(kernels, mixture, inner, rows)
                    : ((MixturePass) passes.getFirst()).of(mixture);
          });
    }
    return passes;
  }

  private static FeedForwardPass plain(Kernels kernels, Plain part, Rows inner) {
    return (x, out, tokens) -> {
      kernels.matmul(part.up(), x, inner, tokens);
      if (part.upBias().isPresent()) {
        kernels.addBias(inner, part.upBias().get(), tokens);
      }
      kernels.activate(part.activation(), inner, tokens);
      kernels.matmul(part.down(), inner, out, tokens);
      if (part.downBias().isPresent()) {
        kernels.addBias(out, part.downBias().get(), tokens);
      }
    };
  }

  /**
   * A gated part.
   *
   * @param memory rows at least as wide as the part's inner width
   */
  static FeedForwardPass gated(Kernels kernels, Gated part, Rows memory) {
    int width = part.inner() / 2;
    Rows gateUp = memory.columns(0, part.inner());
    Rows gate = gateUp.columns(0, width);
    Rows up = gateUp.columns(width, width);
    return (x, out, tokens) -> {
      kernels.matmul(part.gateUp(), x, gateUp, tokens);
      kernels.gate(part.activation(), gate, up, gate, tokens);
      kernels.matmul(part.down(), gate, out, tokens);
    };
  }
}

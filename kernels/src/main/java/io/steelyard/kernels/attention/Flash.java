package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import java.util.ArrayList;
import java.util.List;

/**
 * Exact attention, tiled, with the softmax taken along the way. <em>Dense</em> is the same with the
 * scores of a band's every key in memory at once.
 *
 * <p>Source: Dao et al., "FlashAttention" (2022).
 */
record Flash(boolean dense) implements Variant {
  /** Of the widest tile, the vector tier's. */
  static final int ROWS_OF_SCORES = 32;

  static Variant flash(Parameters parameters) {
    return new Flash(false);
  }

  static Variant dense(Parameters parameters) {
    return new Flash(true);
  }

  @Override
  public Estimate estimate(AttentionShape shape, DataType type, int threads) {
    long panels = Estimate.panels(shape.length(), shape.dimension(), threads);
    // A tile's rows of scores and of weights.
    long rows = dense ? (long) threads * ROWS_OF_SCORES * shape.length() * Float.BYTES : 0;
    return new Estimate(shape.scores(), panels + rows);
  }

  @Override
  public Plan plan(AttentionInputs inputs, Workbench workbench) {
    return new Plan() {
      @Override
      public void run(AttentionOutputs outputs) {
        AttentionShape shape = inputs.shape();
        workbench.attend(
            shape.dimension(),
            shape.scale(),
            strips(inputs, outputs, Sight.of(shape.length(), shape.causal())),
            dense ? shape.length() : 0);
      }

      @Override
      public int times(int batch, int head, int query, int key) {
        return inputs.shape().causal() && key > query ? 0 : 1;
      }
    };
  }

  /** Every head's whole sequence, all with the same sight. */
  static List<Strip> strips(AttentionInputs inputs, AttentionOutputs outputs, Sight sight) {
    return strips(inputs, outputs, (_, _) -> sight);
  }

  /** A sight for each sequence and head. */
  @FunctionalInterface
  interface Sights {
    Sight of(int batch, int head);
  }

  /** Every head's whole sequence. */
  static List<Strip> strips(AttentionInputs inputs, AttentionOutputs outputs, Sights sights) {
    AttentionShape shape = inputs.shape();
    List<Strip> strips = new ArrayList<>();
    for (int batch = 0; batch < shape.batch(); batch++) {
      for (int kvHead = 0; kvHead < shape.kvHeads(); kvHead++) {
        strips.add(
            new Strip(
                inputs.keys(batch, kvHead),
                inputs.values(batch, kvHead),
                shape.length(),
                parts(inputs, outputs, sights, batch, kvHead)));
      }
    }
    return strips;
  }

  /** The queries of the heads that share keys and values. */
  static List<Strip.Part> parts(
      AttentionInputs inputs, AttentionOutputs outputs, Sights sights, int batch, int kvHead) {
    AttentionShape shape = inputs.shape();
    List<Strip.Part> parts = new ArrayList<>();
    for (int head = kvHead * shape.group(); head < (kvHead + 1) * shape.group(); head++) {
      parts.add(
          new Strip.Part(
              inputs.queries(batch, head),
              shape.length(),
              outputs.rows(batch, head),
              outputs.logSums(batch, head),
              Float.BYTES,
              sights.of(batch, head)));
    }
    return parts;
  }
}

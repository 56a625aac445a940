package io.steelyard.kernels.attention;

import java.util.Arrays;
import java.util.function.Supplier;

/**
 * Attention by masks.
 *
 * @param masks of each head of each sequence: [batch × heads]
 */
record MaskPlan(AttentionInputs inputs, Workbench workbench, Mask[] masks) implements Plan {
  /**
   * One mask for all heads, made anew where the pattern cache has none.
   *
   * @param variant whose mask it is
   * @param block positions of a block
   */
  static MaskPlan of(
      AttentionInputs inputs,
      Workbench workbench,
      Variant variant,
      int block,
      Supplier<Mask> mask) {
    AttentionShape shape = inputs.shape();
    String name = variant + (shape.causal() ? " causal" : "");
    Mask[] masks = new Mask[shape.batch() * shape.heads()];
    Arrays.fill(
        masks,
        workbench.patterns().get(new PatternCache.Key(name, shape.length(), block, 0, 0), mask));
    return of(inputs, workbench, masks);
  }

  /** Masks that each head has of its own. */
  static MaskPlan of(AttentionInputs inputs, Workbench workbench, Mask[] masks) {
    workbench.holds(bytes(masks));
    return new MaskPlan(inputs, workbench, masks);
  }

  /** Bytes of masks, of which several heads may share one. */
  static long bytes(Mask[] masks) {
    return Arrays.stream(masks).distinct().mapToLong(Mask::bytes).sum();
  }

  @Override
  public void run(AttentionOutputs outputs) {
    AttentionShape shape = inputs.shape();
    workbench.attend(
        shape.dimension(),
        shape.scale(),
        Flash.strips(inputs, outputs, (batch, head) -> mask(batch, head).sight(shape.causal())));
  }

  private Mask mask(int batch, int head) {
    return masks[batch * inputs.shape().heads() + head];
  }

  @Override
  public int times(int batch, int head, int query, int key) {
    boolean ahead = inputs.shape().causal() && key > query;
    return !ahead && mask(batch, head).keeps(query, key) ? 1 : 0;
  }
}

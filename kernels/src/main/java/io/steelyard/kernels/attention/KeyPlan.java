package io.steelyard.kernels.attention;

/**
 * Attention by masks of single keys.
 *
 * @param masks of each head of each sequence: [batch × heads]
 */
record KeyPlan(AttentionInputs inputs, Workbench workbench, KeyMask[] masks) implements Plan {
  @Override
  public void run(AttentionOutputs outputs) {
    AttentionShape shape = inputs.shape();
    workbench.attend(
        shape.dimension(),
        shape.scale(),
        Flash.strips(inputs, outputs, (batch, head) -> mask(batch, head).sight(shape.causal())));
  }

  private KeyMask mask(int batch, int head) {
    return masks[batch * inputs.shape().heads() + head];
  }

  @Override
  public int times(int batch, int head, int query, int key) {
    return mask(batch, head).keeps(query, key) ? 1 : 0;
  }
}

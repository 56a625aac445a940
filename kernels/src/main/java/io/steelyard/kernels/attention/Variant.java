package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;

/** A kind of attention with its parameters chosen. {@link Variants} knows them all. */
public interface Variant {
  /**
   * Makes ready to attend.
   *
   * @throws IllegalArgumentException if the variant can't take such inputs; the message says why
   */
  Plan plan(AttentionInputs inputs, Workbench workbench);

  /** Attends: plans and runs. */
  default void forward(AttentionInputs inputs, Workbench workbench, AttentionOutputs outputs) {
    try (Plan plan = plan(inputs, workbench)) {
      plan.run(outputs);
    }
  }

  /** What a forward pass of a shape will take. */
  Estimate estimate(AttentionShape shape, DataType type, int threads);
}

package io.steelyard.kernels.attention;

import java.util.List;
import java.util.stream.IntStream;

/**
 * What a head sees of what dense attention would.
 *
 * @param density share of the keys that causality leaves, over all queries that are looked at
 * @param mass share of dense attention's weights that fall on keys which are seen, mean over these
 */
public record KeptMass(double density, double mass) {
  /** Every so-manieth query is looked at: no block's size, so that all rows of blocks come up. */
  private static final int ONE_OF = 11;

  /** Of every head of the first sequence. */
  public static List<KeptMass> of(AttentionInputs inputs, Plan plan) {
    return IntStream.range(0, inputs.shape().heads())
        .parallel()
        .mapToObj(head -> of(inputs, plan, head))
        .toList();
  }

  private static KeptMass of(AttentionInputs inputs, Plan plan, int head) {
    AttentionShape shape = inputs.shape();
    KeyColumns keys =
        KeyColumns.of(inputs.keys(0, head / shape.group()), shape.length(), shape.dimension());
    float[] query = new float[shape.dimension()];
    float[] scores = new float[shape.length()];
    long seen = 0;
    long visible = 0;
    double mass = 0;
    int weighed = 0;
    for (int row = shape.length() - 1; row >= 0; row -= ONE_OF) {
      int end = shape.causal() ? row + 1 : shape.length();
      for (int key = 0; key < end; key++) {
        seen += plan.times(0, head, row, key) > 0 ? 1 : 0;
      }
      visible += end;
      KeyColumns.scaled(inputs.queries(0, head), row, shape.scale(), query);
      keys.products(query, 0, end, scores);
      mass += mass(plan, head, row, scores, end);
      weighed++;
    }
    return new KeptMass((double) seen / visible, mass / weighed);
  }

  private static double mass(Plan plan, int head, int row, float[] scores, int end) {
    float most = Float.NEGATIVE_INFINITY;
    for (int key = 0; key < end; key++) {
      most = Math.max(most, scores[key]);
    }
    double all = 0;
    double kept = 0;
    for (int key = 0; key < end; key++) {
      double weight = Math.exp(scores[key] - most);
      all += weight;
      kept += plan.times(0, head, row, key) > 0 ? weight : 0;
    }
    return kept / all;
  }
}

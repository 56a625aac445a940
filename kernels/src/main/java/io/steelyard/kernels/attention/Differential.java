package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.StridedRows;
import java.util.Arrays;
import java.util.List;

/**
 * The difference of two softmaxes, {@code (softmax(Q₁K₁ᵀ) − λ·softmax(Q₂K₂ᵀ))·V}, of the first and
 * the second halves of queries and keys. The sums that it gives are those of the first.
 *
 * <p>Source: Ye et al., "Differential Transformer" (2024).
 */
record Differential(double lambda) implements Variant {
  static Variant of(Parameters parameters) {
    return new Differential(parameters.number("lambda", 0.8, 0, 1));
  }

  @Override
  public Estimate estimate(AttentionShape shape, DataType type, int threads) {
    return new Estimate(
        2.0 * shape.scores(),
        Estimate.panels(shape.length(), shape.dimension(), threads)
            + Estimate.merges(shape.length(), shape.dimension())
            + Estimate.copies(shape.length(), shape, type));
  }

  @Override
  public Plan plan(AttentionInputs inputs, Workbench workbench) {
    AttentionShape shape = inputs.shape();
    if (shape.dimension() % 2 != 0) {
      throw new IllegalArgumentException(
          "differential attention halves heads, so %d values are no head of its"
              .formatted(shape.dimension()));
    }
    return new Plan() {
      @Override
      public void run(AttentionOutputs outputs) {
        for (int batch = 0; batch < shape.batch(); batch++) {
          for (int head = 0; head < shape.heads(); head++) {
            try (Merge first = new Merge(shape.dimension(), shape.length(), workbench);
                Merge second = new Merge(shape.dimension(), shape.length(), workbench)) {
              half(batch, head, 0, first);
              half(batch, head, 1, second);
              first.subtract(second, lambda);
              first.write(outputs, batch, head);
            }
          }
        }
      }

      // One half's attention: the queries' other half is zero, so that keys may keep theirs.
      private void half(int batch, int head, int half, Merge result) {
        StridedRows from = inputs.queries(batch, head);
        try (Gathered queries =
            Gathered.room(from, shape.dimension(), shape.length(), workbench.pool())) {
          int width = shape.dimension() / 2;
          float[] row = new float[shape.dimension()];
          for (int query = 0; query < shape.length(); query++) {
            for (int d = half * width; d < (half + 1) * width; d++) {
              row[d] = from.get(query, d);
            }
            queries.rows().put(query, row);
          }
          workbench.moved(2L * shape.length() * inputs.type().bytes(shape.dimension()));
          int kvHead = head / shape.group();
          workbench.attend(
              shape.dimension(),
              scale(),
              List.of(
                  new Strip(
                      inputs.keys(batch, kvHead),
                      inputs.values(batch, kvHead),
                      shape.length(),
                      List.of(
                          new Strip.Part(
                              queries.rows(),
                              shape.length(),
                              result.rows(),
                              result.sums(),
                              Float.BYTES,
                              Sight.of(shape.length(), shape.causal()))))));
        }
      }

      private float scale() {
        return (float) (1 / Math.sqrt(shape.dimension() / 2.0));
      }

      @Override
      public int times(int batch, int head, int query, int key) {
        return shape.causal() && key > query ? 0 : 1;
      }

      @Override
      public double row(AttentionInputs in, int batch, int head, int query, double[] out) {
        int width = shape.dimension() / 2;
        double logSum = Oracle.row(in, this, batch, head, query, 0, width, out);
        double[] second = new double[out.length];
        Oracle.row(in, this, batch, head, query, width, 2 * width, second);
        Arrays.setAll(out, d -> out[d] - lambda * second[d]);
        return logSum;
      }
    };
  }
}

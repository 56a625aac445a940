package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.attention.Branches.Branch;
import java.util.ArrayList;
import java.util.List;

/**
 * Dilated attention with every head in every branch. In the branch of segments of w positions and
 * rate r, head j takes the positions {@code ⌊j·r/H⌋ mod r} of each r, H being the heads rounded up
 * to a multiple of r. Branches are merged by their sums, as one softmax in which a key stands as
 * often as branches see it.
 *
 * <p>Source: Ding et al., "LongNet: Scaling Transformers to 1,000,000,000 Tokens" (2023).
 */
record LongNet(Branches branches) implements Variant {
  static Variant of(Parameters parameters) {
    return new LongNet(Branches.of(parameters));
  }

  @Override
  public Estimate estimate(AttentionShape shape, DataType type, int threads) {
    double scores = 0;
    for (Branch branch : branches.of(shape.length())) {
      scores += Branches.scores(branch, shape) * shape.heads();
    }
    long longest =
        branches.of(shape.length()).stream().mapToLong(b -> b.kept(shape.length())).max().orElse(0);
    return new Estimate(
        scores * shape.batch(),
        Estimate.panels(longest, shape.dimension(), threads)
            + Estimate.merges(shape.length(), shape.dimension()));
  }

  /** The first position of a segment that a head takes. */
  static int offset(int head, int rate, int heads) {
    long padded = Math.ceilDiv((long) heads, rate) * rate;
    return (int) ((long) head * rate / padded % rate);
  }

  @Override
  public Plan plan(AttentionInputs inputs, Workbench workbench) {
    AttentionShape shape = inputs.shape();
    List<Branch> all = branches.of(shape.length());
    return new Plan() {
      @Override
      public void run(AttentionOutputs outputs) {
        for (int batch = 0; batch < shape.batch(); batch++) {
          for (int head = 0; head < shape.heads(); head++) {
            merge(outputs, batch, head);
          }
        }
      }

      private void merge(AttentionOutputs outputs, int batch, int head) {
        int length = shape.length();
        try (Merge whole = new Merge(shape.dimension(), length, workbench);
            Merge part = new Merge(shape.dimension(), length, workbench)) {
          for (Branch branch : all) {
            part.forget(0, length);
            workbench.attend(shape.dimension(), shape.scale(), strips(part, batch, head, branch));
            whole.add(part);
          }
          whole.write(outputs, batch, head);
        }
      }

      private List<Strip> strips(Merge part, int batch, int head, Branch branch) {
        List<Strip> strips = new ArrayList<>();
        int rate = branch.rate();
        int kvHead = head / shape.group();
        for (long begin = 0; begin < shape.length(); begin += branch.segment()) {
          int end = (int) Math.min(begin + branch.segment(), shape.length());
          int first = (int) begin + offset(head, rate);
          int count = Branch.count((int) begin, end, rate, offset(head, rate));
          if (count > 0) {
            strips.add(
                new Strip(
                    Dilated.dilated(inputs.keys(batch, kvHead), first, rate),
                    Dilated.dilated(inputs.values(batch, kvHead), first, rate),
                    count,
                    List.of(
                        new Strip.Part(
                            Dilated.dilated(inputs.queries(batch, head), first, rate),
                            count,
                            Dilated.dilated(part.rows(), first, rate),
                            part.sums() + (long) Float.BYTES * first,
                            (long) Float.BYTES * rate,
                            Sight.of(count, shape.causal())))));
          }
        }
        return strips;
      }

      private int offset(int head, int rate) {
        return LongNet.offset(head, rate, shape.heads());
      }

      @Override
      public int times(int batch, int head, int query, int key) {
        if (shape.causal() && key > query) {
          return 0;
        }
        int times = 0;
        for (Branch branch : all) {
          times += branch.pairs(query, key, offset(head, branch.rate())) ? 1 : 0;
        }
        return times;
      }
    };
  }
}

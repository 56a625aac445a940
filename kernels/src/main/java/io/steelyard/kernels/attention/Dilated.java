package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.StridedRows;
import io.steelyard.kernels.attention.Branches.Branch;
import java.util.ArrayList;
import java.util.List;

/**
 * Dilated attention, each head in one group: group i has a segment length, a rate r and the offset
 * {@code i mod r}, and within each segment the positions offset, offset + r, … attend to one
 * another. Other positions get zeros.
 *
 * <p>The plain way gathers each head's positions in copies that lie together, and puts the results
 * back; the improved one reads and writes where the data lie.
 */
record Dilated(Branches branches, boolean improved) implements Variant {
  static Variant plain(Parameters parameters) {
    return new Dilated(Branches.of(parameters), false);
  }

  static Variant improved(Parameters parameters) {
    return new Dilated(Branches.of(parameters), true);
  }

  @Override
  public Estimate estimate(AttentionShape shape, DataType type, int threads) {
    Estimate strided = branches.estimate(shape, threads);
    return improved
        ? strided
        : new Estimate(strided.scores(), strided.scratchBytes() + branches.gathered(shape, type));
  }

  @Override
  public Plan plan(AttentionInputs inputs, Workbench workbench) {
    return new DilatedPlan(inputs, branches) {
      @Override
      public void run(AttentionOutputs outputs) {
        AttentionShape shape = inputs.shape();
        clear(outputs, workbench);
        if (improved) {
          workbench.attend(shape.dimension(), shape.scale(), strips(outputs));
        } else {
          for (int batch = 0; batch < shape.batch(); batch++) {
            try (GatheredHeads heads = new GatheredHeads(this, workbench, batch)) {
              heads.run(outputs);
            }
          }
        }
      }

      private List<Strip> strips(AttentionOutputs outputs) {
        AttentionShape shape = inputs.shape();
        List<Strip> strips = new ArrayList<>();
        for (int batch = 0; batch < shape.batch(); batch++) {
          for (HeadRun run : headRuns()) {
            int segment = run.branch().segment();
            for (long begin = 0; begin < shape.length(); begin += segment) {
              addSegment(outputs, batch, run, (int) begin, strips);
            }
          }
        }
        return strips;
      }

      private void addSegment(
          AttentionOutputs outputs, int batch, HeadRun run, int begin, List<Strip> strips) {
        AttentionShape shape = inputs.shape();
        int rate = run.branch().rate();
        int end = (int) Math.min((long) begin + run.branch().segment(), shape.length());
        int count = Branch.count(begin, end, rate, run.offset());
        int first = begin + run.offset();
        if (count == 0) {
          return;
        }
        Sight sight = Sight.of(count, shape.causal());
        List<Strip.Part> parts = new ArrayList<>();
        for (int head = run.firstHead(); head < run.endHead(); head++) {
          parts.add(
              new Strip.Part(
                  dilated(inputs.queries(batch, head), first, rate),
                  count,
                  dilated(outputs.rows(batch, head), first, rate),
                  outputs.logSums(batch, head) + (long) Float.BYTES * first,
                  (long) Float.BYTES * rate,
                  sight));
        }
        strips.add(
            new Strip(
                dilated(inputs.keys(batch, run.kvHead()), first, rate),
                dilated(inputs.values(batch, run.kvHead()), first, rate),
                count,
                parts));
      }
    };
  }

  static StridedRows dilated(StridedRows rows, int first, int rate) {
    return new StridedRows(rows.from(first).address(), rows.stride() * rate, rows.type());
  }
}

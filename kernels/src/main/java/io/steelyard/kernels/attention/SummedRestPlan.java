package io.steelyard.kernels.attention;

import io.steelyard.kernels.AttentionBand;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.ScoreFunction;
import io.steelyard.kernels.StridedRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Attention by masks of blocks in which the blocks that aren't kept are not forgotten: each stands
 * in the softmax as its mean key, as often as it has keys, with its mean value. It is exact where a
 * block's keys are alike, and costs a score a block. Blocks that a query doesn't see as a whole are
 * left out where they aren't kept.
 *
 * @param masks of each head of each sequence: [batch × heads]
 */
record SummedRestPlan(AttentionInputs inputs, Workbench workbench, BlockMask[] masks)
    implements Plan {
  @Override
  public void run(AttentionOutputs outputs) {
    AttentionShape shape = inputs.shape();
    int block = masks[0].block();
    int blocks = BlockMask.blocks(shape.length(), block);
    long rowBytes = DataType.F32.bytes(shape.dimension());
    long bytes = (shape.length() + blocks) * rowBytes;
    int kvHeads = shape.batch() * shape.kvHeads();
    try (MemoryPool.Piece memory = workbench.pool().take(2 * bytes * kvHeads)) {
      List<Strip> strips = new ArrayList<>();
      for (int i = 0; i < kvHeads; i++) {
        StridedRows keys =
            new StridedRows(memory.address() + 2L * i * bytes, rowBytes, DataType.F32);
        StridedRows values = new StridedRows(keys.address() + bytes, rowBytes, DataType.F32);
        List<Strip.Part> parts =
            Flash.parts(
                inputs,
                outputs,
                (batch, head) -> sight(mask(batch, head), blocks),
                i / shape.kvHeads(),
                i % shape.kvHeads());
        strips.add(new Strip(keys, values, shape.length() + blocks, parts));
      }
      workbench.parallel(
          kvHeads,
          (i, _) -> {
            int batch = i / shape.kvHeads();
            int kvHead = i % shape.kvHeads();
            extend(inputs.keys(batch, kvHead), strips.get(i).keys(), block);
            extend(inputs.values(batch, kvHead), strips.get(i).values(), block);
          });
      workbench.moved(2 * bytes * kvHeads);
      workbench.attend(shape.dimension(), shape.scale(), strips);
    }
  }

  /** Copies rows, and writes the means of their blocks behind them. */
  private void extend(StridedRows from, StridedRows to, int block) {
    AttentionShape shape = inputs.shape();
    float[] row = new float[shape.dimension()];
    double[] sum = new double[shape.dimension()];
    int length = shape.length();
    for (int start = 0; start < length; start += block) {
      int end = (int) Math.min((long) start + block, length);
      Arrays.fill(sum, 0);
      for (int position = start; position < end; position++) {
        for (int d = 0; d < row.length; d++) {
          row[d] = from.get(position, d);
          sum[d] += row[d];
        }
        to.put(position, row);
      }
      for (int d = 0; d < row.length; d++) {
        row[d] = (float) (sum[d] / (end - start));
      }
      to.put(length + start / block, row);
    }
  }

  /** Kept keys, and behind all keys the means of the blocks that aren't kept. */
  private Sight sight(BlockMask mask, int blocks) {
    AttentionShape shape = inputs.shape();
    boolean causal = shape.causal();
    int length = shape.length();
    int block = mask.block();
    return new Sight() {
      @Override
      public int block() {
        return block;
      }

      @Override
      public void runs(int query, int rows, Runs runs) {
        int own = query / block;
        mask.runs(own, causal ? own : blocks, (from, to, _) -> runs.add(from, to, null));
        if (causal && mask.keepsBlock(own, own)) {
          runs.add(
              own * block,
              query + rows,
              (score, row, key) -> key <= query + row ? score : ScoreFunction.HIDDEN);
        }
        int wholes = causal ? own : blocks;
        if (wholes > 0) {
          runs.add(
              length,
              length + wholes,
              (score, _, key) ->
                  mask.keepsBlock(own, key - length)
                      ? ScoreFunction.HIDDEN
                      : score + (float) Math.log(size(key - length, block)));
        }
      }

      @Override
      public int end(int query) {
        return length + blocks;
      }
    };
  }

  private int size(int keyBlock, int block) {
    return (int) Math.min(block, inputs.shape().length() - (long) keyBlock * block);
  }

  private BlockMask mask(int batch, int head) {
    return masks[batch * inputs.shape().heads() + head];
  }

  /** Keys that stand for themselves. */
  @Override
  public int times(int batch, int head, int query, int key) {
    boolean ahead = inputs.shape().causal() && key > query;
    return !ahead && mask(batch, head).keeps(query, key) ? 1 : 0;
  }

  @Override
  public double row(AttentionInputs in, int batch, int head, int query, double[] out) {
    AttentionShape shape = in.shape();
    BlockMask mask = mask(batch, head);
    int block = mask.block();
    int own = query / block;
    int kvHead = head / shape.group();
    StridedRows keys = in.keys(batch, kvHead);
    StridedRows values = in.values(batch, kvHead);
    double[] asked = mean(in.queries(batch, head), query, query + 1, shape.dimension());
    List<double[]> seen = new ArrayList<>();
    List<Double> logs = new ArrayList<>();
    for (int start = 0; start < shape.length(); start += block) {
      int j = start / block;
      int end = start + size(j, block);
      if (mask.keepsBlock(own, j)) {
        for (int key = start; key < (shape.causal() ? Math.min(end, query + 1) : end); key++) {
          logs.add(score(asked, mean(keys, key, key + 1, shape.dimension())));
          seen.add(mean(values, key, key + 1, shape.dimension()));
        }
      } else if (!shape.causal() || j < own) {
        double score = score(asked, mean(keys, start, end, shape.dimension()));
        logs.add(score + Math.log(end - start));
        seen.add(mean(values, start, end, shape.dimension()));
      }
    }
    Arrays.fill(out, 0);
    double most = logs.stream().mapToDouble(Double::doubleValue).max().orElse(Double.NaN);
    if (logs.isEmpty()) {
      return AttentionBand.NO_KEYS;
    }
    double all = logs.stream().mapToDouble(log -> Math.exp(log - most)).sum();
    for (int i = 0; i < seen.size(); i++) {
      double weight = Math.exp(logs.get(i) - most) / all;
      for (int d = 0; d < out.length; d++) {
        out[d] += weight * seen.get(i)[d];
      }
    }
    return most + Math.log(all);
  }

  private static double score(double[] query, double[] key) {
    double product = 0;
    for (int d = 0; d < query.length; d++) {
      product += query[d] * key[d];
    }
    return product / Math.sqrt(query.length);
  }

  private static double[] mean(StridedRows rows, int from, int to, int dimension) {
    double[] mean = new double[dimension];
    for (int row = from; row < to; row++) {
      for (int d = 0; d < dimension; d++) {
        mean[d] += rows.get(row, d) / (double) (to - from);
      }
    }
    return mean;
  }
}

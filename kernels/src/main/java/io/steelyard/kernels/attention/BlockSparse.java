package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.StridedRows;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Attention to some blocks of keys, with one softmax over all that a query sees.
 *
 * @param block positions of a block
 * @param window positions around a query that patterns with a diagonal see
 * @param rates distances of parallels, in blocks
 * @param global first blocks that see everything and are seen by all
 * @param stride every so-manieth block is seen by all
 * @param density share of blocks that patterns keep which are drawn or chosen
 */
record BlockSparse(
    BlockPattern pattern,
    int block,
    int window,
    List<Integer> rates,
    int global,
    int stride,
    double density,
    int seed)
    implements Variant {
  private static final int MOST = 1 << 30;
  private static final int PARALLELS = 3;

  /** Strides and windows of the hierarchy; 0 for no bound. */
  private static final int[][] LEVELS = {{64, 256}, {256, 1024}, {1024, 0}};

  static Variant of(Parameters parameters) {
    BlockPattern pattern = parameters.choice("pattern", BlockPattern.LOCAL_WINDOW);
    if (pattern == BlockPattern.LEARNED) {
      return Learned.of(parameters, parameters.number("density", 0.1, 0, 1));
    }
    parameters.using("pattern=" + Parameters.label(pattern), pattern::uses);
    return new BlockSparse(
        pattern,
        parameters.whole("block", 128, 1, MOST),
        parameters.whole("window", 1024, 1, MOST),
        IntStream.of(parameters.wholes("rates", new int[] {1, 2, 4}, 1, MOST)).boxed().toList(),
        parameters.whole("global", 1, 0, MOST),
        parameters.whole("stride", 8, 1, MOST),
        parameters.number("density", 0.1, 0, 1),
        parameters.whole("seed", 1, 0, Integer.MAX_VALUE));
  }

  @Override
  public Estimate estimate(AttentionShape shape, DataType type, int threads) {
    double kept =
        switch (pattern) {
          case RANDOM, ADAPTIVE -> density * shape.scores();
          default -> fixed(shape).blocks() * (double) block * block * shape.batch() * shape.heads();
        };
    long masks = pattern == BlockPattern.ADAPTIVE ? (long) shape.batch() * shape.heads() : 1;
    return new Estimate(
        Math.min(kept, (double) shape.scores()),
        Estimate.panels(shape.length(), shape.dimension(), threads)
            + masks * BlockMask.bytes(shape.length(), block));
  }

  @Override
  public Plan plan(AttentionInputs inputs, Workbench workbench) {
    AttentionShape shape = inputs.shape();
    if (pattern != BlockPattern.ADAPTIVE) {
      return MaskPlan.of(inputs, workbench, this, block, () -> fixed(shape));
    }
    BlockMask[] masks = new BlockMask[shape.batch() * shape.heads()];
    long blocks = BlockMask.blocks(shape.length(), block);
    workbench.parallel(
        masks.length,
        (index, _) -> {
          masks[index] =
              new Pooled(inputs, block, index / shape.heads(), index % shape.heads()).mask(density);
          // Every query and key is read once, for the means.
          workbench.moved(2 * inputs.type().bytes((long) shape.length() * shape.dimension()));
          workbench.scored(
              Math.round(Estimate.among((double) blocks, shape.causal())),
              shape.dimension(),
              Double.BYTES);
        });
    return MaskPlan.of(inputs, workbench, masks);
  }

  private BlockMask fixed(AttentionShape shape) {
    int length = shape.length();
    int near = window / block / 2;
    if (pattern == BlockPattern.RANDOM) {
      return random(shape);
    }
    return BlockMask.of(
        length,
        block,
        shape.causal(),
        (i, j) -> {
          int distance = Math.abs(i - j);
          return switch (pattern) {
            case LOCAL_WINDOW -> distance <= near;
            case DILATED_SPARSE ->
                distance == 0 || rates.stream().limit(PARALLELS).anyMatch(rate -> distance == rate);
            case GLOBAL_LOCAL -> distance <= near || i < global || j < global;
            case STRIDED -> distance <= near || j % stride == 0;
            case HIERARCHICAL -> inHierarchy(distance, j, length);
            case RANDOM, ADAPTIVE, LEARNED -> throw new AssertionError(pattern + " has no rule");
          };
        });
  }

  private boolean inHierarchy(int distance, int keyBlock, int length) {
    long from = (long) keyBlock * block;
    long end = Math.min(from + block, length);
    for (int[] level : LEVELS) {
      long holds = Math.ceilDiv(from, level[0]) * (long) level[0];
      boolean near = level[1] == 0 || (long) distance * block <= level[1] / 2;
      if (near && holds < end) {
        return true;
      }
    }
    return distance == 0;
  }

  private BlockMask random(AttentionShape shape) {
    int blocks = BlockMask.blocks(shape.length(), block);
    Random random = new Random(seed);
    BitSet[] rows = new BitSet[blocks];
    for (int i = 0; i < blocks; i++) {
      int visible = shape.causal() ? i + 1 : blocks;
      rows[i] = new BitSet(blocks);
      rows[i].set(i);
      int kept = kept(density, visible);
      while (rows[i].cardinality() < kept) {
        rows[i].set(random.nextInt(visible));
      }
    }
    return BlockMask.of(shape.length(), block, rows);
  }

  /** How many of so many blocks a density keeps. */
  static int kept(double density, int visible) {
    return Math.clamp(Math.round(density * visible), 1, visible);
  }

  /** Means of a head's queries and keys over blocks. */
  private record Pooled(AttentionInputs inputs, int block, int batch, int head) {
    /** A block of queries sees its own and those of the largest products of means. */
    BlockMask mask(double density) {
      AttentionShape shape = inputs.shape();
      int blocks = BlockMask.blocks(shape.length(), block);
      double[][] queries = means(inputs.queries(batch, head), blocks);
      double[][] keys = means(inputs.keys(batch, head / shape.group()), blocks);
      BitSet[] rows = new BitSet[blocks];
      for (int i = 0; i < blocks; i++) {
        int own = i;
        int visible = shape.causal() ? i + 1 : blocks;
        double[] scores = new double[visible];
        for (int j = 0; j < visible; j++) {
          scores[j] = j == own ? Double.POSITIVE_INFINITY : dot(queries[i], keys[j]);
        }
        rows[i] = new BitSet(blocks);
        IntStream.range(0, visible)
            .boxed()
            .sorted(Comparator.comparingDouble((Integer j) -> scores[j]).reversed())
            .limit(kept(density, visible))
            .forEach(rows[own]::set);
      }
      return BlockMask.of(shape.length(), block, rows);
    }

    private double[][] means(StridedRows rows, int blocks) {
      int length = inputs.shape().length();
      double[][] means = new double[blocks][inputs.shape().dimension()];
      for (int position = 0; position < length; position++) {
        double[] mean = means[position / block];
        int inBlock = Math.min(block, length - position / block * block);
        for (int d = 0; d < mean.length; d++) {
          mean[d] += rows.get(position, d) / (double) inBlock;
        }
      }
      return means;
    }

    private static double dot(double[] a, double[] b) {
      double sum = 0;
      for (int d = 0; d < a.length; d++) {
        sum += a[d] * b[d];
      }
      return sum;
    }
  }
}

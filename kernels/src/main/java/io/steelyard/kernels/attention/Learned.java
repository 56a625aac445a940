package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import java.util.BitSet;

/**
 * The blocks of which a scorer foresees the most attention. All heads of a sequence share one
 * budget: a head that looks everywhere gets more of it than one that looks at a few keys. A block
 * of queries always sees its own and the first one.
 *
 * @param density share of the pairs of positions that all heads together see
 * @param share in place of a density: blocks are kept from which on so much of a query's attention
 *     is foreseen; 0 for the density. Layers that look everywhere keep more than others then
 * @param keys of the kept blocks, single keys are seen from which on so much of a query's attention
 *     goes to each, which takes their scores twice; 0 for whole blocks
 * @param rest what becomes of the other blocks
 */
record Learned(BlockScorer scorer, double density, double share, double keys, int block, Rest rest)
    implements Variant {
  /** What becomes of blocks that aren't kept. */
  enum Rest {
    /** They aren't seen. */
    NONE,
    /** Each is seen as its mean, by {@link SummedRestPlan}. */
    MEANS
  }

  /** Small enough for what heads look at, large enough to be computed as one. */
  private static final int BLOCK = 16;

  /** A threshold is found to two parts in a thousand of a share. */
  private static final int BISECTIONS = 40;

  /** No logarithm of a share is as low, so that everything is kept. */
  private static final double EVERYTHING = -1e9;

  static Learned of(Parameters parameters, double density) {
    double keys = parameters.number("keys", 0, 0, 1);
    Rest rest = parameters.choice("rest", Rest.NONE);
    if (keys > 0 && rest != Rest.NONE) {
      throw new IllegalArgumentException(
          "attention with single keys has no blocks whose rest could stand as means: leave keys or rest out");
    }
    return new Learned(
        BlockScorer.of(parameters),
        density,
        parameters.number("share", 0, 0, 1),
        keys,
        parameters.whole("block", BLOCK, 1, 1 << 30),
        rest);
  }

  @Override
  public Estimate estimate(AttentionShape shape, DataType type, int threads) {
    // Choosing takes two pooled products, the means of the rest are a third.
    double pooled = (double) shape.scores() / Math.min(block, shape.length());
    long blocks = BlockMask.blocks(shape.length(), block);
    long extended = Estimate.copies(shape.length() + blocks, shape, DataType.F32);
    // What a share keeps is not known before it is foreseen.
    double kept = (share > 0 ? 1 : density) * (keys > 0 ? 2 : 1) * shape.scores();
    return new Estimate(
        kept + (rest == Rest.NONE ? 2 : 3) * pooled,
        // Rows of keys are gone through as a whole, with gaps where blocks aren't kept.
        pooled + (keys > 0 ? shape.scores() : 0),
        Estimate.panels(shape.length() + blocks, shape.dimension(), threads)
            + held(shape, threads)
            + (keys > 0 ? (long) shape.batch() * shape.heads() * KeyMask.bytes(shape.length()) : 0)
            + (rest == Rest.NONE ? 0 : 2 * extended * shape.kvHeads() * shape.batch()));
  }

  /** Bytes of what is foreseen of a sequence, of the threads' keys, and of all masks. */
  private long held(AttentionShape shape, int threads) {
    long blocks = BlockMask.blocks(shape.length(), block);
    return Float.BYTES * blocks * blocks * shape.heads()
        + Math.min(threads, shape.heads())
            * Estimate.columns(shape.length(), blocks, shape.dimension())
        + (long) shape.batch() * shape.heads() * BlockMask.bytes(shape.length(), block);
  }

  @Override
  public Plan plan(AttentionInputs inputs, Workbench workbench) {
    BlockMask[] masks = masks(inputs, workbench);
    if (keys > 0) {
      return MaskPlan.of(inputs, workbench, KeysOfBlocks.of(inputs, workbench, masks, keys));
    }
    return switch (rest) {
      case NONE -> MaskPlan.of(inputs, workbench, masks);
      case MEANS -> new SummedRestPlan(inputs, workbench, masks);
    };
  }

  /** Masks of all heads. */
  private BlockMask[] masks(AttentionInputs inputs, Workbench workbench) {
    AttentionShape shape = inputs.shape();
    int blocks = BlockMask.blocks(shape.length(), block);
    workbench.holds(held(shape, workbench.threads()));
    BlockMask[] masks = new BlockMask[shape.batch() * shape.heads()];
    for (int batch = 0; batch < shape.batch(); batch++) {
      int sequence = batch;
      float[][][] shares = new float[shape.heads()][][];
      workbench.parallel(
          shape.heads(),
          (head, _) -> shares[head] = shares(inputs, workbench, sequence, head, blocks));
      double least = share > 0 ? Math.log(share) : threshold(shape, shares);
      for (int head = 0; head < shape.heads(); head++) {
        masks[batch * shape.heads() + head] = mask(shape, shares[head], least);
      }
    }
    return masks;
  }

  /** Logarithms of the shares foreseen of one head: [block of queries][block of keys]. */
  private float[][] shares(
      AttentionInputs inputs, Workbench workbench, int batch, int head, int blocks) {
    BlockFeatures features = new BlockFeatures(inputs, block, batch, head);
    float[] row = new float[blocks * BlockFeatures.NAMES.size()];
    float[][] shares = new float[blocks][];
    for (int i = 0; i < blocks; i++) {
      features.row(i, row);
      workbench.scored(features.scores(i), inputs.shape().dimension(), Float.BYTES);
      shares[i] = new float[features.visible(i)];
      for (int j = 0; j < shares[i].length; j++) {
        shares[i][j] = (float) scorer.logShare(row, j * BlockFeatures.NAMES.size());
      }
    }
    return shares;
  }

  /** The share from which on blocks are kept. */
  private double threshold(AttentionShape shape, float[][][] shares) {
    double wanted = density * shape.scores() / shape.batch();
    double low = EVERYTHING;
    double high = -EVERYTHING;
    for (int i = 0; i < BISECTIONS; i++) {
      double middle = (low + high) / 2;
      if (kept(shape, shares, middle) > wanted) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return high;
  }

  private long kept(AttentionShape shape, float[][][] shares, double least) {
    long kept = 0;
    for (float[][] head : shares) {
      for (int i = 0; i < head.length; i++) {
        for (int j = 0; j < head[i].length; j++) {
          kept += isKept(head, i, j, least) ? pairs(shape, i, j) : 0;
        }
      }
    }
    return kept;
  }

  private static boolean isKept(float[][] shares, int i, int j, double least) {
    return i == j || j == 0 || shares[i][j] >= least;
  }

  /** Pairs of positions of two blocks. */
  private long pairs(AttentionShape shape, int i, int j) {
    long queries = Math.min(block, shape.length() - (long) i * block);
    long keys = Math.min(block, shape.length() - (long) j * block);
    return i == j && shape.causal() ? queries * (queries + 1) / 2 : queries * keys;
  }

  private BlockMask mask(AttentionShape shape, float[][] shares, double least) {
    BitSet[] rows = new BitSet[shares.length];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = new BitSet(shares[i].length);
      for (int j = 0; j < shares[i].length; j++) {
        rows[i].set(j, isKept(shares, i, j, least));
      }
    }
    return BlockMask.of(shape.length(), block, rows);
  }
}

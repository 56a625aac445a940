package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import java.util.BitSet;
import java.util.Random;

/**
 * Attention that drops a share of the keys, by blocks.
 *
 * @param ratio share that is dropped of the blocks that a block of queries could see
 */
record Sparse(Kind kind, double ratio, int block, int seed) implements Variant {
  /** Which blocks are kept. A block of queries always sees its own. */
  enum Kind {
    /** Some, drawn by the seed. */
    RANDOM,
    /** The nearest. */
    BLOCK_SPARSE,
    /** Every so-manieth. */
    STRIDED,
    /** The nearest and the first, as many of each. */
    LOCAL_GLOBAL,
    /** No blocks but single keys, by {@link Threshold}. */
    DYNAMIC_THRESHOLD,
    /** The largest scores of each row, likewise. */
    TOP_K,
    /** Those of which a trained scorer foresees the most attention, by {@link Learned}. */
    LEARNED
  }

  static Variant of(Parameters parameters) {
    Kind kind = parameters.choice("pattern", Kind.BLOCK_SPARSE);
    double ratio = parameters.number("ratio", 0.9, 0, 1);
    return switch (kind) {
      case DYNAMIC_THRESHOLD -> Threshold.dynamic(parameters, 1 - ratio);
      case TOP_K -> Threshold.none(parameters, 1 - ratio);
      case LEARNED -> Learned.of(parameters, 1 - ratio);
      default -> fixed(parameters, kind, ratio);
    };
  }

  private static Variant fixed(Parameters parameters, Kind kind, double ratio) {
    parameters.using(
        "pattern=" + Parameters.label(kind),
        name -> name.equals("block") || (kind == Kind.RANDOM && name.equals("seed")));
    return new Sparse(
        kind,
        ratio,
        parameters.whole("block", 128, 1, 1 << 30),
        parameters.whole("seed", 1, 0, Integer.MAX_VALUE));
  }

  @Override
  public Estimate estimate(AttentionShape shape, DataType type, int threads) {
    return new Estimate(
        (1 - ratio) * shape.scores(),
        Estimate.panels(shape.length(), shape.dimension(), threads)
            + BlockMask.bytes(shape.length(), block));
  }

  @Override
  public Plan plan(AttentionInputs inputs, Workbench workbench) {
    return MaskPlan.of(inputs, workbench, this, block, () -> mask(inputs.shape()));
  }

  private BlockMask mask(AttentionShape shape) {
    int blocks = BlockMask.blocks(shape.length(), block);
    Random random = new Random(seed);
    BitSet[] rows = new BitSet[blocks];
    for (int i = 0; i < blocks; i++) {
      rows[i] = row(i, shape.causal() ? i + 1 : blocks, random);
    }
    return BlockMask.of(shape.length(), block, rows);
  }

  private BitSet row(int own, int visible, Random random) {
    BitSet row = new BitSet(visible);
    row.set(own);
    int kept = BlockSparse.kept(1 - ratio, visible);
    for (int i = 0; row.cardinality() < kept; i++) {
      switch (kind) {
        case RANDOM -> row.set(random.nextInt(visible));
        case BLOCK_SPARSE -> row.set(nearest(i, own, visible));
        case STRIDED -> row.set((int) ((long) i * visible / kept % visible));
        case LOCAL_GLOBAL -> row.set(i % 2 == 0 ? nearest(i / 2, own, visible) : i / 2);
        case DYNAMIC_THRESHOLD, TOP_K, LEARNED -> throw new AssertionError(kind + " looks at keys");
      }
    }
    return row;
  }

  /** The i-th nearest, by turns behind and before as long as there are both. */
  private static int nearest(int i, int own, int visible) {
    int onBothSides = Math.min(own, visible - 1 - own);
    if (i <= 2 * onBothSides) {
      return i % 2 == 0 ? own - i / 2 : own + (i + 1) / 2;
    }
    int distance = i - onBothSides;
    return own > onBothSides ? own - distance : own + distance;
  }
}

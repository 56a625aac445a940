package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.StridedRows;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The keys whose scores reach a threshold, at most a share of a row's.
 *
 * <p>A head's threshold is a quantile of its scores, estimated from some that are drawn. Of a block
 * of keys each query first knows an upper bound of its scores; blocks whose bound lies under the
 * threshold are skipped unseen, the others are computed. Of the scores that reach the threshold a
 * row keeps the largest, as many as the density asks for; a row in which none does keeps the
 * largest that was computed, those of the block with the highest bound among them.
 *
 * @param density share of the keys that a row sees at most
 * @param slack the threshold lets so many times the density through: what is more than the density
 *     falls to the rows' cap, and rows of low scores still have some; 0 for no threshold, with
 *     which every score is computed
 * @param share in place of a density, where there is no threshold: keys are kept that have so much
 *     of their query's attention; 0 for the density
 * @param block keys of a bound
 */
record Threshold(double density, double slack, double share, int block, int seed)
    implements Variant {
  /** The quantile of so many scores is off by half a per cent of them. */
  private static final int SAMPLES = 4096;

  static Threshold dynamic(Parameters parameters, double density) {
    return new Threshold(
        density,
        parameters.number("slack", 2, 1, 1000),
        0,
        parameters.whole("block", 16, 1, 1 << 30),
        parameters.whole("seed", 1, 0, Integer.MAX_VALUE));
  }

  /** No threshold: the largest scores of each row, all of them computed. */
  static Threshold none(Parameters parameters, double density) {
    return new Threshold(density, 0, parameters.number("share", 0, 0, 1), KeyMask.BLOCK, 0);
  }

  /** Scores are computed to choose and again to attend, at most all of them; and bounds. */
  @Override
  public Estimate estimate(AttentionShape shape, DataType type, int threads) {
    return new Estimate(
        (2 + (slack > 0 ? (double) BlockBounds.PRODUCTS / block : 0)) * shape.scores(),
        shape.scores(),
        Estimate.panels(shape.length(), shape.dimension(), threads) + held(shape, threads));
  }

  /** Bytes of all heads' masks, of a head's keys and bounds, and of threads' rows of scores. */
  private long held(AttentionShape shape, int threads) {
    long blocks = Math.ceilDiv(shape.length(), block);
    return (long) shape.batch() * shape.heads() * KeyMask.bytes(shape.length())
        + Estimate.columns(shape.length(), blocks, shape.dimension())
        + (long) threads * Float.BYTES * (2L * shape.length() + 2 * blocks);
  }

  @Override
  public Plan plan(AttentionInputs inputs, Workbench workbench) {
    AttentionShape shape = inputs.shape();
    KeyMask[] masks = new KeyMask[shape.batch() * shape.heads()];
    for (int i = 0; i < masks.length; i++) {
      Head head = new Head(inputs, i / shape.heads(), i % shape.heads());
      masks[i] = head.mask;
      workbench.parallel(
          Math.ceilDiv(shape.length(), KeyMask.BLOCK),
          (part, _) -> {
            int from = shape.length() - part * KeyMask.BLOCK;
            workbench.scored(
                head.choose(Math.max(0, from - KeyMask.BLOCK), from),
                shape.dimension(),
                Float.BYTES);
          });
      workbench.scored(head.samples, shape.dimension(), Float.BYTES);
    }
    workbench.holds(held(shape, workbench.threads()));
    return MaskPlan.of(inputs, workbench, masks);
  }

  /** One head of one sequence. */
  private final class Head {
    private final AttentionShape shape;
    private final StridedRows queries;
    private final KeyColumns keys;
    private final BlockBounds bounds;
    private final int samples;
    private final float threshold;
    private final KeyMask mask;

    Head(AttentionInputs inputs, int batch, int head) {
      shape = inputs.shape();
      queries = inputs.queries(batch, head);
      StridedRows ofKeys = inputs.keys(batch, head / shape.group());
      mask = new KeyMask(shape.length());
      keys = KeyColumns.of(ofKeys, shape.length(), shape.dimension());
      bounds = BlockBounds.of(keys, block);
      boolean all = slack == 0 || slack * density >= 1;
      samples = all ? 0 : SAMPLES;
      threshold = all ? Float.NEGATIVE_INFINITY : quantile(ofKeys, head);
    }

    /** Of pairs that are drawn evenly from all that see each other. */
    private float quantile(StridedRows ofKeys, int head) {
      SplittableRandom random = new SplittableRandom(seed + 31L * head);
      float[] scores = new float[samples];
      for (int i = 0; i < samples; i++) {
        int one = random.nextInt(shape.length());
        int other = random.nextInt(shape.length());
        boolean swap = shape.causal() && one < other;
        int query = swap ? other : one;
        int key = swap ? one : other;
        double product = 0;
        for (int d = 0; d < shape.dimension(); d++) {
          product += (double) queries.get(query, d) * ofKeys.get(key, d);
        }
        scores[i] = (float) (product * shape.scale());
      }
      int above = Math.max(1, (int) Math.round(slack * density * samples));
      return TopKeys.largest(scores, samples, above);
    }

    /** Chooses the keys of some queries; returns how many scores and bounds were computed. */
    long choose(int from, int to) {
      float[] query = new float[shape.dimension()];
      float[] scores = new float[shape.length()];
      float[] reaching = new float[shape.length()];
      float[] bound = new float[bounds.blocks()];
      long computed = 0;
      for (int row = from; row < to; row++) {
        KeyColumns.scaled(queries, row, shape.scale(), query);
        int end = shape.causal() ? row + 1 : shape.length();
        int visible = Math.ceilDiv(end, block);
        if (slack > 0) {
          bounds.of(query, visible, bound);
          computed += (long) BlockBounds.PRODUCTS * visible;
        }
        computed += compute(query, visible, end, bound, scores);
        if (share > 0) {
          mask.keepShares(row, end, scores, share);
          continue;
        }
        int count = 0;
        for (int key = 0; key < end; key++) {
          reaching[count] = scores[key];
          count += scores[key] >= threshold ? 1 : 0;
        }
        if (count == 0) {
          // Nothing reaches it: the largest of the most promising block.
          int best = best(bound, visible);
          computed += compute(query, best, best + 1, end, scores);
          keepLargest(row, end, scores);
        } else {
          keep(row, end, scores, reaching, count);
        }
      }
      return computed;
    }

    /** Blocks whose bound reaches the threshold; the others' scores are as low as can be. */
    private long compute(float[] query, int visible, int end, float[] bound, float[] scores) {
      if (slack == 0) {
        return compute(query, 0, visible, end, scores);
      }
      Arrays.fill(scores, 0, end, Float.NEGATIVE_INFINITY);
      long computed = 0;
      for (int b = 0; b < visible; b++) {
        int first = b;
        while (b < visible && bound[b] >= threshold) {
          b++;
        }
        computed += compute(query, first, b, end, scores);
      }
      return computed;
    }

    /** Some blocks; returns how many scores. */
    private int compute(float[] query, int first, int behind, int end, float[] scores) {
      int from = first * block;
      int to = Math.max(from, (int) Math.min(end, (long) behind * block));
      keys.products(query, from, to, scores);
      return to - from;
    }

    private static int best(float[] bound, int visible) {
      int best = 0;
      for (int b = 1; b < visible; b++) {
        best = bound[b] > bound[best] ? b : best;
      }
      return best;
    }

    private void keepLargest(int row, int end, float[] scores) {
      int largest = 0;
      for (int key = 1; key < end; key++) {
        largest = scores[key] > scores[largest] ? key : largest;
      }
      mask.keep(row, largest);
    }

    /** Of equal scores at the cap the earlier keys are kept. */
    private void keep(int row, int end, float[] scores, float[] reaching, int count) {
      int most = BlockSparse.kept(density, end);
      float least = threshold;
      int equal = Integer.MAX_VALUE;
      if (count > most) {
        least = TopKeys.largest(reaching, count, most);
        equal = most;
        for (int i = 0; i < count; i++) {
          equal -= reaching[i] > least ? 1 : 0;
        }
      }
      for (int key = 0; key < end; key++) {
        if (scores[key] > least || (scores[key] == least && equal-- > 0)) {
          mask.keep(row, key);
        }
      }
    }
  }
}

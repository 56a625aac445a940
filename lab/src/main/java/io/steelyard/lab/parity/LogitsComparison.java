package io.steelyard.lab.parity;

import io.steelyard.lab.record.Perplexity;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * How far an engine's logits are from the oracle's over a set of positions.
 *
 * @param positions how many positions were compared
 * @param kldMean mean of KL(oracle ‖ engine), in nats
 * @param kldP99 its 99th percentile
 * @param top1 share of positions with the same most likely token (ties: lowest id)
 * @param rmsDeltaP root mean square, over positions, of the change in the probability of the
 *     oracle's most likely token
 * @param maxAbs largest difference of a logit
 * @param gaps for each position with another most likely token, how far below its own best the
 *     oracle's logit of that token is
 * @param perplexity over the tokens that really follow; empty where these were not given
 */
public record LogitsComparison(
    int positions,
    double kldMean,
    double kldP99,
    double top1,
    double rmsDeltaP,
    double maxAbs,
    List<Double> gaps,
    Optional<Perplexity> perplexity) {

  private static final int[] NOTHING_FOLLOWS = {};

  public LogitsComparison {
    gaps = List.copyOf(gaps);
  }

  /** A comparison that doesn't know which tokens follow. */
  public LogitsComparison(
      int positions,
      double kldMean,
      double kldP99,
      double top1,
      double rmsDeltaP,
      double maxAbs,
      List<Double> gaps) {
    this(positions, kldMean, kldP99, top1, rmsDeltaP, maxAbs, gaps, Optional.empty());
  }

  /** The share of positions with the oracle's most likely token, or one less than this below it. */
  public double top1Within(double margin) {
    return top1 + (double) gaps.stream().filter(gap -> gap < margin).count() / positions;
  }

  /** Begins a comparison of logits with this many values a position. */
  public static Tally over(int vocabulary) {
    return new Tally(vocabulary);
  }

  /**
   * Sums over positions. A position with a logit that is not finite agrees in nothing: it makes the
   * mean and the largest difference infinite.
   */
  public static final class Tally {
    private final int vocabulary;
    private final double[] p;
    private final double[] q;
    private final List<Double> kl = new ArrayList<>();
    private final List<Double> gaps = new ArrayList<>();

    /** Negative log-likelihoods of the tokens that follow; the surplus is their difference. */
    private final ExponentialMean surprise = new ExponentialMean();

    private final ExponentialMean oracleSurprise = new ExponentialMean();
    private final ExponentialMean surplus = new ExponentialMean();
    private int sameTop;
    private double squaredDeltaP;
    private double maxAbs;

    private Tally(int vocabulary) {
      this.vocabulary = vocabulary;
      this.p = new double[vocabulary];
      this.q = new double[vocabulary];
    }

    /**
     * Adds positions.
     *
     * @param oracle float32 little-endian [positions, vocabulary]
     * @param engine likewise
     * @throws IllegalArgumentException if the sizes disagree
     */
    public Tally add(MemorySegment oracle, MemorySegment engine) {
      return add(oracle, engine, NOTHING_FOLLOWS);
    }

    /**
     * Adds the positions of a text.
     *
     * @param ids the text: what really follows a position is the id of the next one
     */
    public Tally add(MemorySegment oracle, MemorySegment engine, int[] ids) {
      long rowBytes = 4L * vocabulary;
      if (oracle.byteSize() != engine.byteSize() || oracle.byteSize() % rowBytes != 0) {
        throw new IllegalArgumentException(
            "logits of "
                + engine.byteSize()
                + " bytes against "
                + oracle.byteSize()
                + " bytes of the oracle's, with rows of "
                + rowBytes);
      }
      for (long offset = 0; offset < oracle.byteSize(); offset += rowBytes) {
        int next = (int) (offset / rowBytes) + 1;
        addRow(oracle, engine, offset, next < ids.length ? ids[next] : -1);
      }
      return this;
    }

    private void addRow(MemorySegment oracle, MemorySegment engine, long offset, int following) {
      boolean finite = true;
      for (int i = 0; i < vocabulary; i++) {
        p[i] = oracle.get(Logits.FLOAT, offset + 4L * i);
        q[i] = engine.get(Logits.FLOAT, offset + 4L * i);
        double difference = Math.abs(p[i] - q[i]);
        finite &= Double.isFinite(q[i]);
        maxAbs = difference > maxAbs ? difference : maxAbs;
      }
      if (!finite) {
        maxAbs = Double.POSITIVE_INFINITY;
        kl.add(Double.POSITIVE_INFINITY);
        squaredDeltaP += 1;
        if (following >= 0) {
          surprise.add(Double.POSITIVE_INFINITY);
          surplus.add(Double.POSITIVE_INFINITY);
        }
        return;
      }
      int top = argmax(p);
      int own = argmax(q);
      if (top == own) {
        sameTop++;
      } else {
        gaps.add(p[top] - p[own]);
      }
      Logits.toLogProbabilities(p);
      Logits.toLogProbabilities(q);
      double divergence = 0;
      for (int i = 0; i < vocabulary; i++) {
        divergence += Math.exp(p[i]) * (p[i] - q[i]);
      }
      // Rounding alone can leave equal distributions a hair under zero.
      kl.add(Math.max(0, divergence));
      double deltaP = Math.exp(q[top]) - Math.exp(p[top]);
      squaredDeltaP += deltaP * deltaP;
      if (following >= 0) {
        surprise.add(-q[following]);
        oracleSurprise.add(-p[following]);
        surplus.add(p[following] - q[following]);
      }
    }

    private Optional<Perplexity> perplexity() {
      return surplus.count() < 2
          ? Optional.empty()
          : Optional.of(new Perplexity(surprise.value(), surplus.value(), surplus.error()));
    }

    /** How well the engine foresees the tokens that follow. */
    public TextScore score() {
      return TextScore.of(surprise);
    }

    /** How well the oracle does. */
    public TextScore oracleScore() {
      return TextScore.of(oracleSurprise);
    }

    /** The comparison over all positions added. */
    public LogitsComparison comparison() {
      int n = kl.size();
      double[] sorted = kl.stream().mapToDouble(Double::doubleValue).sorted().toArray();
      return new LogitsComparison(
          n,
          Arrays.stream(sorted).average().orElse(Double.NaN),
          n == 0 ? Double.NaN : sorted[(int) Math.ceil(0.99 * n) - 1],
          (double) sameTop / n,
          Math.sqrt(squaredDeltaP / n),
          maxAbs,
          gaps,
          perplexity());
    }

    private static int argmax(double[] values) {
      int best = 0;
      for (int i = 1; i < values.length; i++) {
        if (values[i] > values[best]) {
          best = i;
        }
      }
      return best;
    }
  }
}

package io.steelyard.stats;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Whole studies as the lab runs them, simulated: blocks of one value a side, a look after each from
 * the third, a family of ratios judged together, and each ratio left alone once its verdict is
 * settled or its interval narrow enough. The tables of {@code docs/statistics.md}.
 *
 * <p>The intervals are Student's alone unless resamples are asked for, so that tens of thousands of
 * studies take a minute.
 */
final class SequentialStudy {

  static final double MARGIN = 0.02;

  private final int blocks;
  private final int ratios;
  private final double[] truths;
  private final double noise;
  private final boolean stopsWhenNarrow;
  private final int resamples;

  /** The blocks of each ratio at which it was left, and the verdicts and intervals there. */
  record Outcome(int[] stops, List<Verdict> verdicts, List<Interval> intervals) {}

  /**
   * A study to be simulated.
   *
   * @param blocks the most blocks
   * @param truths the true ratio of each of the family
   * @param noise standard deviation of the logarithm of a block's ratio
   * @param stopsWhenNarrow whether a ratio is left once its interval's half-width is half the
   *     margin
   * @param resamples of the bootstrap, 0 for Student's interval alone
   */
  SequentialStudy(
      int blocks, double[] truths, double noise, boolean stopsWhenNarrow, int resamples) {
    this.resamples = resamples;
    this.blocks = blocks;
    this.ratios = truths.length;
    this.truths = truths.clone();
    this.noise = noise;
    this.stopsWhenNarrow = stopsWhenNarrow;
  }

  /** A ratio's interval at the look after so many blocks. */
  private final class Ratio implements FamilyVerdicts.Ratio {
    private final double[] logs = new double[blocks];
    private final double[] means = new double[blocks + 1];
    private final double[] errors = new double[blocks + 1];
    private int look;
    private boolean left;

    Ratio(double truth, RandomGenerator random) {
      for (int block = 0; block < blocks; block++) {
        logs[block] = Math.log(truth) + random.nextGaussian(0, noise);
        int n = block + 1;
        if (n >= SequentialPlan.FIRST_LOOK) {
          double[] seen = Arrays.copyOf(logs, n);
          means[n] = Moments.mean(seen);
          errors[n] = Moments.standardDeviation(seen) / Math.sqrt(n);
        }
      }
    }

    @Override
    public Optional<Interval> interval(double level) {
      if (resamples > 0) {
        double[] subject = Arrays.stream(logs).limit(look).map(Math::exp).toArray();
        double[] baseline = new double[look];
        Arrays.fill(baseline, 1);
        double planned = SequentialPlan.of(SequentialPlan.FIRST_LOOK, blocks, level).levelAt(look);
        return Intervals.ratio(
            Sample.ofForks(subject), Sample.ofForks(baseline), true, planned, resamples, look);
      }
      double half = critical(level)[look] * errors[look];
      double mean = means[look];
      return Optional.of(
          new Interval(Math.exp(mean), Math.exp(mean - half), Math.exp(mean + half), level));
    }
  }

  private final List<double[]> criticals = new ArrayList<>();
  private final List<Double> levels = new ArrayList<>();

  /** Student's quantile at each look of the plan of a level. */
  private double[] critical(double level) {
    int known = levels.indexOf(level);
    if (known >= 0) {
      return criticals.get(known);
    }
    SequentialPlan plan = SequentialPlan.of(SequentialPlan.FIRST_LOOK, blocks, level);
    double[] critical = new double[blocks + 1];
    for (int look = SequentialPlan.FIRST_LOOK; look <= blocks; look++) {
      critical[look] = StudentT.critical(look, plan.levelAt(look));
    }
    levels.add(level);
    criticals.add(critical);
    return critical;
  }

  Outcome run(RandomGenerator random) {
    List<Ratio> family = new ArrayList<>();
    for (double truth : truths) {
      family.add(new Ratio(truth, random));
    }
    for (int look = SequentialPlan.FIRST_LOOK; look <= blocks; look++) {
      for (Ratio ratio : family) {
        ratio.look = ratio.left ? ratio.look : look;
      }
      List<Verdict> verdicts = FamilyVerdicts.of(family, MARGIN);
      boolean anyGoesOn = false;
      for (int i = 0; i < ratios; i++) {
        Ratio ratio = family.get(i);
        ratio.left =
            ratio.left
                || verdicts.get(i) != Verdict.INCONCLUSIVE
                || (stopsWhenNarrow
                    && ratio.interval(Intervals.LEVEL).orElseThrow().relativeHalfWidth()
                        <= MARGIN / 2);
        anyGoesOn |= !ratio.left;
      }
      if (!anyGoesOn) {
        break;
      }
    }
    return new Outcome(
        family.stream().mapToInt(ratio -> ratio.look).toArray(),
        FamilyVerdicts.of(family, MARGIN),
        family.stream().map(ratio -> ratio.interval(Intervals.LEVEL).orElseThrow()).toList());
  }

  /**
   * What many studies of equal engines came to.
   *
   * @param families share of the studies with any {@code faster} or {@code slower}
   * @param alarms share of the ratios with one
   * @param missed share of the ratios whose 95 % interval, where they were left, excludes the truth
   * @param equivalent share of the ratios that were found equivalent
   * @param blocks mean number of blocks of a ratio
   */
  record Rates(double families, double alarms, double missed, double equivalent, double blocks) {}

  Rates rates(int studies, long seed) {
    RandomGenerator random = Seeds.generator(seed);
    int families = 0;
    int alarms = 0;
    int missed = 0;
    int equivalent = 0;
    long used = 0;
    for (int study = 0; study < studies; study++) {
      Outcome outcome = run(random);
      int here = 0;
      for (int i = 0; i < ratios; i++) {
        Verdict verdict = outcome.verdicts.get(i);
        here += verdict == Verdict.FASTER || verdict == Verdict.SLOWER ? 1 : 0;
        equivalent += verdict == Verdict.EQUIVALENT ? 1 : 0;
        Interval interval = outcome.intervals.get(i);
        missed += truths[i] < interval.low() || truths[i] > interval.high() ? 1 : 0;
        used += outcome.stops[i];
      }
      alarms += here;
      families += here > 0 ? 1 : 0;
    }
    double all = (double) studies * ratios;
    return new Rates(
        (double) families / studies, alarms / all, missed / all, equivalent / all, used / all);
  }

  /** Blocks after which the first ratio was found faster; the most blocks and one where never. */
  int[] decidedAfter(int studies, long seed) {
    RandomGenerator random = Seeds.generator(seed);
    int[] decided = new int[studies];
    for (int study = 0; study < studies; study++) {
      Outcome outcome = run(random);
      decided[study] =
          outcome.verdicts.getFirst() == Verdict.FASTER ? outcome.stops[0] : blocks + 1;
    }
    Arrays.sort(decided);
    return decided;
  }

  static String percent(double share) {
    return String.format(Locale.ROOT, "%.2f %%", 100 * share);
  }
}

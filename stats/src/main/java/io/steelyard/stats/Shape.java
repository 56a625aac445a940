package io.steelyard.stats;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Whether fork means, and the trials around them, look like what an interval takes them for. Where
 * they don't, the interval of the mean is optimistic, and {@link #warning} says why.
 *
 * <p>Four statistics are held against what normal values in as many forks and trials would show,
 * simulated once for each such layout ({@link ShapeNull}):
 *
 * <ul>
 *   <li><em>two groups</em>: of all ways to cut the sorted values in two parts of at least two
 *       values, the largest ratio of squares between the parts to squares within (Engelman and
 *       Hartigan, "Percentage points of a test for clusters", JASA 64 (1969));
 *   <li><em>tails</em>: how much likelier the values are under the best Student's t with two
 *       degrees of freedom than under the best normal (a ratio of maximised likelihoods);
 *   <li><em>skew</em>: the third standardised moment;
 *   <li><em>spread</em>: fork means that are all above 0 and whose standard deviation is more than
 *       half their mean cannot be normal, for normal ones would go below 0.
 * </ul>
 *
 * @param forks what the fork means look like
 * @param trials what the trials look like once their forks' means are removed
 */
public record Shape(Kind forks, Kind trials) {

  /** With fewer fork means nothing is said of them. */
  public static final int LEAST_FORKS = 5;

  /** With fewer trials beyond one a fork nothing is said of the trials. */
  public static final int LEAST_TRIALS = 10;

  /** The largest relative spread between forks of values that may be normal. */
  static final double WIDE = 0.5;

  /** What a set of values looks like. */
  public enum Kind {
    /** Too few values, or none with spread, to say anything. */
    UNKNOWN,
    /** Nothing that normal values would not show. */
    UNREMARKABLE,
    /** Two groups with a gap between. */
    BIMODAL,
    /** A long tail on one side. */
    SKEWED,
    /** Now and then a value far from the others. */
    HEAVY_TAILED;

    boolean remarkable() {
      return this != UNKNOWN && this != UNREMARKABLE;
    }
  }

  /** The shape of a sample. */
  public static Shape of(Sample sample) {
    return new Shape(ofForkMeans(sample.forkMeans()), ofTrials(sample));
  }

  /** Why the interval of the mean is optimistic, in a sentence; empty where it is not. */
  public Optional<String> warning() {
    return switch (forks) {
      case BIMODAL ->
          Optional.of(
              "The fork means fall into two groups, and the interval knows only the forks it has"
                  + " seen: how many of the next will fall into either is less sure than it says.");
      case SKEWED ->
          Optional.of(
              "The fork means have a long tail on one side, and the rare far forks that pull the"
                  + " mean may be missing here: the interval is optimistic.");
      case HEAVY_TAILED ->
          Optional.of(
              "A few fork means lie far from the others; with so few of them neither the mean nor"
                  + " its spread has settled, and the interval is optimistic.");
      case UNKNOWN, UNREMARKABLE -> trialsWarning();
    };
  }

  private Optional<String> trialsWarning() {
    return switch (trials) {
      case BIMODAL ->
          Optional.of(
              "The trials within forks fall into two groups, so that a fork's mean depends on how"
                  + " many of each it met: the interval is optimistic for few forks.");
      case SKEWED ->
          Optional.of(
              "The trials within forks have a long tail on one side, and the rare far trials that"
                  + " pull the mean may be missing here: the interval is optimistic for few forks.");
      case HEAVY_TAILED ->
          Optional.of(
              "A few trials lie far from the others of their fork and pull its mean: the interval"
                  + " is optimistic for few forks.");
      case UNKNOWN, UNREMARKABLE -> Optional.empty();
    };
  }

  private static Kind ofForkMeans(double[] means) {
    if (means.length < LEAST_FORKS || Moments.squaredDeviations(means) == 0) {
      return Kind.UNKNOWN;
    }
    Kind kind = ShapeFigures.ofForks(means).beyond(ShapeNull.ofForks(means.length));
    boolean positive = Arrays.stream(means).allMatch(mean -> mean > 0);
    boolean wide = positive && Moments.standardDeviation(means) > WIDE * Moments.mean(means);
    return kind == Kind.UNREMARKABLE && wide ? Kind.SKEWED : kind;
  }

  private static Kind ofTrials(Sample sample) {
    double[][] forks =
        IntStream.range(0, sample.forks())
            .mapToObj(sample::fork)
            .filter(fork -> fork.length > 1)
            .toArray(double[][]::new);
    int trials = Arrays.stream(forks).mapToInt(fork -> fork.length).sum();
    double squares = Arrays.stream(forks).mapToDouble(Moments::squaredDeviations).sum();
    if (trials - forks.length < LEAST_TRIALS || squares == 0) {
      return Kind.UNKNOWN;
    }
    int[] lengths = Arrays.stream(forks).mapToInt(fork -> fork.length).toArray();
    return ShapeFigures.ofTrials(forks).beyond(ShapeNull.ofTrials(lengths));
  }
}

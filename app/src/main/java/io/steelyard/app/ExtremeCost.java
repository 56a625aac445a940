package io.steelyard.app;

import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.kernels.attention.AttentionShape;
import io.steelyard.kernels.attention.Estimate;
import io.steelyard.kernels.attention.Variant;
import io.steelyard.kernels.attention.Variants;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.PowerLaw;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a pass of a variant will take at a length: memory by the variant's own account, time by a
 * law of the time over the scores that it says it computes, through what was measured at the last
 * lengths. Scores, rather than the length: where a variant's segments follow the length, its time
 * does not follow one power of it, but it follows the scores.
 */
final class ExtremeCost {
  /** Shorter lengths say less about long ones: calls cost something by themselves there. */
  private static final int LAST_LENGTHS = 4;

  private final AttentionProblem problem;
  private final Variant variant;
  private final NavigableMap<Integer, Double> seconds = new TreeMap<>();

  /**
   * Scratch memory that was held beyond what the variant says, such as what a thread works with.
   */
  private long beyond;

  /**
   * What a pass is predicted to take.
   *
   * @param seconds of a pass
   * @param low lower bound of the 95 % interval for a pass; null below three measured lengths
   * @param high upper bound; null likewise
   * @param bytes of inputs, results and scratch memory
   * @param scratchBytes of these, at most about
   * @param points measured lengths that the time rests on; with none it is a rule of thumb
   */
  record Prediction(
      int length,
      double seconds,
      Double low,
      Double high,
      long bytes,
      long scratchBytes,
      int points) {}

  ExtremeCost(AttentionProblem problem, String spelling) {
    this.problem = problem;
    variant = Variants.of(spelling);
  }

  /** Learns what a pass took. */
  void measured(int length, double passSeconds, long scratchBytes) {
    beyond = Math.max(beyond, scratchBytes - estimate(length).scratchBytes());
    seconds.put(length, passSeconds);
  }

  /** About how many scores a pass computes. */
  double scores(int length) {
    return Math.max(1, estimate(length).scores());
  }

  private Estimate estimate(int length) {
    AttentionShape shape = problem.shape(length);
    return variant.estimate(shape, problem.type(), problem.threads());
  }

  Prediction at(int length) {
    Estimate estimate = estimate(length);
    // It may grow as lengths do, which double.
    long scratch = estimate.scratchBytes() + 2 * beyond;
    long bytes = Math.addExact(problem.bytes(length), scratch);
    if (seconds.isEmpty()) {
      double most = AttentionStudy.seconds(problem, estimate);
      return new Prediction(length, most, null, null, bytes, scratch, 0);
    }
    List<Integer> last =
        seconds.descendingKeySet().stream().limit(LAST_LENGTHS).toList().reversed();
    double[] x = last.stream().mapToDouble(this::scores).toArray();
    double[] y = last.stream().mapToDouble(seconds::get).toArray();
    double at = scores(length);
    if (x.length > 1 && !(x[x.length - 1] > x[0])) {
      // Nothing but a query's own block: then the time is that of the rows.
      x = last.stream().mapToDouble(Integer::doubleValue).toArray();
      at = length;
    }
    PowerLaw law = x.length == 1 ? PowerLaw.proportional(x[0], y[0]) : PowerLaw.through(x, y);
    Optional<Interval> interval = law.prediction(at, Intervals.LEVEL);
    return new Prediction(
        length,
        law.at(at),
        interval.map(Interval::low).orElse(null),
        interval.map(Interval::high).orElse(null),
        bytes,
        scratch,
        x.length);
  }
}

package io.steelyard.stats;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.statistics.distribution.TDistribution;

/**
 * How Student's t of a growing normal sample with mean 0 moves from one size to the next, and what
 * share of all such paths has never crossed the boundaries so far.
 *
 * <p>With S the sum and Q the sum of squares of the first k values, T = S/√Q carries the same
 * information as t: t² = (k − 1)·T²/(k − T²). The direction of the sample is independent of its
 * length, hence T of all past sizes is independent of Q, and with tan ψ = x/√Q for the next value x
 *
 * <pre>  T' = (S + x)/√(Q + x²) = T·cos ψ + sin ψ,   √k·tan ψ distributed as t with k degrees,
 * </pre>
 *
 * so T is a Markov chain on a bounded interval with a smooth kernel, the density of ψ being
 * proportional to cos<sup>k−1</sup> ψ. This class carries its distribution as masses on a grid.
 */
final class StudentPaths {

  /** Accurate to about five digits of a level, far more than the normal model deserves. */
  private static final int POINTS = 601;

  private static final int ANGLES = 600;

  private static final int HALVINGS = 12;
  private static final int MOST_STEPS = 60;

  /** Relative error of a chance at which the search for its boundary ends. */
  private static final double CLOSE = 1e-11;

  /** The same for all plans, and the dearest part of a short one. */
  private static final Map<Integer, AngleTable> ANGLE_TABLES = new ConcurrentHashMap<>();

  private final int size;
  private final double[] points;

  /** Symmetric about the middle, as the points are. */
  private final double[] masses;

  private StudentPaths(int size, double[] points, double[] masses) {
    this.size = size;
    this.points = points;
    this.masses = masses;
  }

  /** All paths at their first value: T is its sign. */
  static StudentPaths start() {
    return new StudentPaths(1, new double[] {-1, 1}, new double[] {0.5, 0.5});
  }

  /** The value of T at which t of a sample of that size leaves (1 − level)/2 on either side. */
  static double boundary(int size, double level) {
    double t = StudentT.critical(size, level);
    return t * Math.sqrt(size / (size - 1 + t * t));
  }

  /** The level whose boundary is T. */
  static double level(int size, double boundary) {
    double t = boundary * Math.sqrt((size - 1) / (size - boundary * boundary));
    return 1 - 2 * TDistribution.of(size - 1).survivalProbability(t);
  }

  /** Largest possible T of a sample: no boundary. */
  static double unbounded(int size) {
    return Math.sqrt(size);
  }

  /** The boundary for the next value's T that the paths still inside cross with this chance. */
  double boundaryFor(double chance) {
    Crossing crossing = new Crossing();
    double low = 0;
    double high = unbounded(size + 1);
    double atLow = crossing.of(low) - chance;
    double atHigh = -chance;
    // Halved until the curve in between is nearly a line, then cut by its chord; an end that stays
    // twice is pulled in, lest the other one creep (the Illinois rule).
    int stayed = 0;
    for (int step = 0; step < MOST_STEPS; step++) {
      boolean chord = step >= HALVINGS;
      double middle = low + (high - low) * (chord ? atLow / (atLow - atHigh) : 0.5);
      double atMiddle = crossing.of(middle) - chance;
      if (Math.abs(atMiddle) < CLOSE * chance) {
        return middle;
      }
      if (atMiddle > 0) {
        low = middle;
        atLow = atMiddle;
        atHigh /= chord && stayed > 0 ? 2 : 1;
        stayed = 1;
      } else {
        high = middle;
        atHigh = atMiddle;
        atLow /= chord && stayed < 0 ? 2 : 1;
        stayed = -1;
      }
    }
    return high;
  }

  /** The chance that a path still inside has |T'| above a boundary at the next value. */
  private final class Crossing {
    private final AngleTable angles = angles(size);
    private final double[] lengths = new double[points.length];
    private final double[] shifts = new double[points.length];

    Crossing() {
      for (int i = 0; i < points.length; i++) {
        lengths[i] = Math.sqrt(1 + points[i] * points[i]);
        shifts[i] = Math.atan(points[i]);
      }
    }

    /**
     * T·cos ψ + sin ψ = √(1 + T²)·sin(ψ + arctan T), so it is above a bound for an interval of ψ;
     * by symmetry it is below the opposite bound as often.
     */
    double of(double boundary) {
      double above = 0;
      for (int i = 0; i < points.length; i++) {
        if (boundary < lengths[i]) {
          double from = Math.asin(boundary / lengths[i]);
          above +=
              masses[i]
                  * (angles.below(Math.PI - from - shifts[i]) - angles.below(from - shifts[i]));
        }
      }
      return 2 * above;
    }
  }

  private static AngleTable angles(int size) {
    return ANGLE_TABLES.computeIfAbsent(size, AngleTable::new);
  }

  /** The paths that are still inside the boundary after the next value. */
  StudentPaths next(double boundary) {
    AngleTable angles = angles(size);
    double survive = 0;
    for (double mass : masses) {
      survive += mass;
    }
    survive -= new Crossing().of(boundary);
    double[] grid = new double[POINTS];
    double step = 2 * boundary / (POINTS - 1);
    for (int j = 0; j < POINTS; j++) {
      grid[j] = -boundary + j * step;
    }
    // In units of a step, so that the inner loop divides by nothing.
    double[] cosine = new double[ANGLES];
    double[] sine = new double[ANGLES];
    for (int a = 0; a < ANGLES; a++) {
      cosine[a] = angles.cosine[a] / step;
      sine[a] = (angles.sine[a] + boundary) / step;
    }
    // From the lower half of the points; the upper half is its mirror image.
    double[] half = new double[POINTS];
    int middle = points.length / 2;
    for (int i = 0; i < (points.length + 1) / 2; i++) {
      double share = i == middle ? masses[i] / 2 : masses[i];
      for (int a = 0; a < ANGLES; a++) {
        double position = points[i] * cosine[a] + sine[a];
        if (position < 0 || position > POINTS - 1) {
          continue;
        }
        // Shared between the two nearest points, so that the mean stays where it is.
        int below = Math.min((int) position, POINTS - 2);
        double mass = share * angles.mass[a];
        half[below] += mass * (below + 1 - position);
        half[below + 1] += mass * (position - below);
      }
    }
    double[] inside = new double[POINTS];
    double total = 0;
    for (int j = 0; j < POINTS; j++) {
      inside[j] = half[j] + half[POINTS - 1 - j];
      total += inside[j];
    }
    for (int j = 0; j < POINTS; j++) {
      inside[j] *= survive / total;
    }
    return new StudentPaths(size + 1, grid, inside);
  }

  /** The distribution of ψ after a sample of some size, in equal cells of (−π/2, π/2). */
  private static final class AngleTable {
    private final double[] cosine = new double[ANGLES];
    private final double[] sine = new double[ANGLES];
    private final double[] mass = new double[ANGLES];
    private final double[] cumulative = new double[ANGLES + 1];

    AngleTable(int size) {
      for (int edge = 1; edge <= ANGLES; edge++) {
        cumulative[edge] = integral(size - 1, Math.PI * ((double) edge / ANGLES - 0.5));
      }
      for (int edge = 1; edge <= ANGLES; edge++) {
        cumulative[edge] /= cumulative[ANGLES];
      }
      for (int cell = 0; cell < ANGLES; cell++) {
        double angle = Math.PI * ((cell + 0.5) / ANGLES - 0.5);
        cosine[cell] = Math.cos(angle);
        sine[cell] = Math.sin(angle);
        mass[cell] = cumulative[cell + 1] - cumulative[cell];
      }
    }

    /** Of a power of the cosine from −π/2 on, by parts: each power from the second below it. */
    private static double integral(int power, double angle) {
      double c = Math.cos(angle);
      double s = Math.sin(angle);
      double integral = power % 2 == 0 ? angle + Math.PI / 2 : s + 1;
      double cosines = power % 2 == 0 ? c : c * c;
      for (int m = power % 2 == 0 ? 2 : 3; m <= power; m += 2) {
        integral = cosines * s / m + (m - 1.0) / m * integral;
        cosines *= c * c;
      }
      return integral;
    }

    double below(double angle) {
      double position = (angle / Math.PI + 0.5) * ANGLES;
      if (position <= 0) {
        return 0;
      }
      if (position >= ANGLES) {
        return 1;
      }
      int cell = (int) position;
      return cumulative[cell] + (position - cell) * mass[cell];
    }
  }
}

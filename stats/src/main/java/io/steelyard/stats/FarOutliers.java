package io.steelyard.stats;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Samples without the trials that lie far out by {@link TukeyFences} over all trials of the sample.
 * What is left scatters less than the truth does, so an interval of it is optimistic: a person has
 * to ask for it, and is shown both.
 */
public final class FarOutliers {
  /**
   * Two samples of the same blocks.
   *
   * @param kept which forks are left, by their places in the samples given; rising
   */
  public record Pair(Sample subject, Sample baseline, List<Integer> kept) {
    public Pair {
      kept = List.copyOf(kept);
    }

    /** All that was measured. */
    public static Pair all(Sample subject, Sample baseline) {
      return new Pair(subject, baseline, IntStream.range(0, subject.forks()).boxed().toList());
    }
  }

  private FarOutliers() {}

  /** How many trials lie far out. */
  public static int count(Sample sample) {
    return count(sample, TukeyFences.Mark.FAR);
  }

  /** How many trials lie outside the inner fences but not far. */
  public static int countNear(Sample sample) {
    return count(sample, TukeyFences.Mark.NEAR);
  }

  private static int count(Sample sample, TukeyFences.Mark wanted) {
    Marks marks = marks(sample);
    return (int)
        Arrays.stream(sample.allTrials()).filter(value -> marks.of(value) == wanted).count();
  }

  @FunctionalInterface
  private interface Marks {
    TukeyFences.Mark of(double value);
  }

  /** Where half of the trials are equal, fences that stand on them say nothing of the others. */
  private static Marks marks(Sample sample) {
    TukeyFences fences = TukeyFences.of(sample.allTrials());
    return fences.lowerQuartile() < fences.upperQuartile()
        ? fences::mark
        : _ -> TukeyFences.Mark.INSIDE;
  }

  /** A sample without them; forks that have no other trials are left out. */
  public static Sample drop(Sample sample) {
    return sample.keeping(inside(sample), forksLeft(sample));
  }

  /**
   * Two samples without their own ones. A fork that is left out on one side is left out on both.
   *
   * @param baseline as many forks as the subject has
   * @return empty where no fork is left on both sides
   */
  public static Optional<Pair> drop(Sample subject, Sample baseline) {
    List<Integer> kept = new ArrayList<>(forksLeft(subject));
    kept.retainAll(forksLeft(baseline));
    return kept.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Pair(
                subject.keeping(inside(subject), kept),
                baseline.keeping(inside(baseline), kept),
                kept));
  }

  private static boolean[][] inside(Sample sample) {
    Marks marks = marks(sample);
    boolean[][] inside = new boolean[sample.forks()][];
    for (int fork = 0; fork < inside.length; fork++) {
      double[] trials = sample.fork(fork);
      inside[fork] = new boolean[trials.length];
      for (int trial = 0; trial < trials.length; trial++) {
        inside[fork][trial] = marks.of(trials[trial]) != TukeyFences.Mark.FAR;
      }
    }
    return inside;
  }

  private static List<Integer> forksLeft(Sample sample) {
    boolean[][] inside = inside(sample);
    List<Integer> left = new ArrayList<>();
    for (int fork = 0; fork < inside.length; fork++) {
      for (boolean stays : inside[fork]) {
        if (stays) {
          left.add(fork);
          break;
        }
      }
    }
    return left;
  }
}

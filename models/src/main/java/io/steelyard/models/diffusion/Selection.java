package io.steelyard.models.diffusion;

import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/** Which candidates a pass keeps. */
final class Selection {
  private static final Comparator<Candidate> MOST_CONFIDENT =
      Comparator.comparingDouble(Candidate::confidence)
          .reversed()
          .thenComparingInt(Candidate::position);

  private Selection() {}

  /** Those that the schedule has for a step of a block, whose steps the diffusion counts. */
  static List<Candidate> scheduled(
      List<Candidate> candidates, int step, Diffusion diffusion, SplittableRandom random) {
    if (diffusion.algorithm() == Diffusion.Algorithm.ORIGIN) {
      double share = diffusion.share(step);
      return candidates.stream().filter(_ -> random.nextDouble() < share).toList();
    }
    int count = diffusion.filled(step, candidates.size());
    if (diffusion.order() > 0) {
      return Draw.some(candidates, count, diffusion.order(), random);
    }
    return candidates.stream().sorted(MOST_CONFIDENT).limit(count).toList();
  }

  /** All above a confidence; the most confident one, where there is none. */
  static List<Candidate> above(List<Candidate> candidates, double threshold) {
    List<Candidate> above =
        candidates.stream().filter(candidate -> candidate.confidence() > threshold).toList();
    return above.isEmpty() ? candidates.stream().sorted(MOST_CONFIDENT).limit(1).toList() : above;
  }
}

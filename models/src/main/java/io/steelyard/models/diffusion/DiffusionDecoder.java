package io.steelyard.models.diffusion;

import io.steelyard.models.ModelException;
import io.steelyard.models.Session;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Fills in masks after a prompt, pass by pass: each pass sees the whole sequence, and what follows
 * a position is told by the logits of the one before it.
 *
 * <p>Source: Ye et al., "Dream 7B: Diffusion Large Language Models" (2025).
 */
public final class DiffusionDecoder {
  private final Session session;
  private final int mask;

  /** Told of what each step fills in. */
  @FunctionalInterface
  public interface Listener {
    /** Nobody listens. */
    Listener NONE = (step, positions, sequence) -> {};

    /**
     * Takes a step's result.
     *
     * @param step from 0
     * @param positions that were filled in, rising; none is possible
     * @param sequence prompt and tokens, with masks where there still are some; not to be changed
     */
    void step(int step, int[] positions, int[] sequence);
  }

  /**
   * A decoder over a session, whose cache it uses.
   *
   * @param mask the id of the token that stands for one to be filled in
   * @throws ModelException if the session's model doesn't see both directions
   */
  public DiffusionDecoder(Session session, int mask) {
    if (session.causal()) {
      throw new ModelException(
          "the model generates token by token; diffusion needs one that is trained to fill in masks,"
              + " such as Dream or DiffuCoder");
    }
    this.session = session;
    this.mask = mask;
  }

  /**
   * Generates.
   *
   * @return prompt and tokens
   * @throws ModelException if they don't fit the session's context
   */
  public int[] generate(int[] prompt, Diffusion diffusion, Listener listener) {
    int[] sequence = Arrays.copyOf(prompt, prompt.length + diffusion.tokens());
    Arrays.fill(sequence, prompt.length, sequence.length, mask);
    SplittableRandom random = new SplittableRandom(diffusion.seed());
    Distribution distribution = new Distribution(session.vocabulary());
    for (int step = 0; step < diffusion.steps(); step++) {
      List<Candidate> candidates = candidates(sequence, distribution, diffusion, random);
      int[] positions =
          kept(candidates, step, diffusion, random).stream()
              .sorted(Comparator.comparingInt(Candidate::position))
              .peek(candidate -> sequence[candidate.position()] = candidate.id())
              .mapToInt(Candidate::position)
              .toArray();
      listener.step(step, positions, sequence);
    }
    return sequence;
  }

  /** One for each mask, in order. */
  private List<Candidate> candidates(
      int[] sequence, Distribution distribution, Diffusion diffusion, SplittableRandom random) {
    List<Candidate> candidates = new ArrayList<>();
    session.truncate(0);
    session.forward(
        sequence,
        row -> follows(row, sequence) >= 0,
        (row, logits) -> {
          distribution.set(logits, diffusion);
          int id = distribution.choose(diffusion, random);
          double confidence = distribution.confidence(id, diffusion.algorithm());
          candidates.add(new Candidate(follows(row, sequence), id, confidence));
        });
    return candidates;
  }

  /** The mask whose logits a row holds; -1 if there is none. The first row tells itself, too. */
  private int follows(int row, int[] sequence) {
    if (row + 1 < sequence.length && sequence[row + 1] == mask) {
      return row + 1;
    }
    return row == 0 && sequence[0] == mask ? 0 : -1;
  }

  private static List<Candidate> kept(
      List<Candidate> candidates, int step, Diffusion diffusion, SplittableRandom random) {
    if (diffusion.algorithm() == Diffusion.Algorithm.ORIGIN) {
      double share = diffusion.share(step);
      return candidates.stream().filter(c -> random.nextDouble() < share).toList();
    }
    int count = diffusion.filled(step, candidates.size());
    if (diffusion.order() > 0) {
      return Draw.some(candidates, count, diffusion.order(), random);
    }
    return candidates.stream()
        .sorted(
            Comparator.comparingDouble(Candidate::confidence)
                .reversed()
                .thenComparingInt(Candidate::position))
        .limit(count)
        .toList();
  }
}

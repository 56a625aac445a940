package io.steelyard.models.diffusion;

import io.steelyard.models.ModelException;
import io.steelyard.models.Session;
import io.steelyard.models.gguf.Metadata;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Fills in masks after a prompt, pass by pass: each pass sees the whole sequence, and what follows
 * a position is told by the logits of the one before it.
 *
 * <p>Source: Ye et al., "Dream 7B: Diffusion Large Language Models" (2025).
 */
public final class DiffusionDecoder {
  /** Where a model's file says which token is the mask. */
  public static final String MASK_KEY = "tokenizer.ggml.mask_token_id";

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
    requireBothDirections(session);
    this.session = session;
    this.mask = mask;
  }

  /**
   * The token that a model's file names as the mask, if it does.
   *
   * @throws ModelException if that is no token id
   */
  public static OptionalInt mask(Metadata metadata) {
    if (!metadata.has(MASK_KEY)) {
      return OptionalInt.empty();
    }
    long id = metadata.integer(MASK_KEY);
    if (id < 0 || id > Integer.MAX_VALUE) {
      throw metadata.fault("the mask's id %d is no token's; the file is damaged".formatted(id));
    }
    return OptionalInt.of((int) id);
  }

  /**
   * Refuses a model that generates token by token.
   *
   * @throws ModelException if the session's model doesn't see both directions
   */
  public static void requireBothDirections(Session session) {
    if (session.causal()) {
      throw new ModelException(
          "the model generates token by token; diffusion needs one that is trained to fill in masks,"
              + " such as Dream or DiffuCoder");
    }
  }

  /**
   * Generates, all tokens in one block.
   *
   * @return prompt and tokens
   * @throws ModelException if they don't fit the session's context
   */
  public int[] generate(int[] prompt, Diffusion diffusion, Listener listener) {
    return generate(prompt, diffusion, Blocks.NONE, listener);
  }

  /**
   * Generates block by block. Each gets the share of the steps that its tokens are, at least one;
   * masks in the prompt belong to the first.
   *
   * @return prompt and tokens
   * @throws IllegalArgumentException if blocks have a threshold that the algorithm can't be held to
   * @throws ModelException if they don't fit the session's context
   */
  public int[] generate(int[] prompt, Diffusion diffusion, Blocks blocks, Listener listener) {
    blocks.check(diffusion.algorithm());
    int[] sequence = Arrays.copyOf(prompt, prompt.length + diffusion.tokens());
    Arrays.fill(sequence, prompt.length, sequence.length, mask);
    Run run = new Run(sequence, diffusion, blocks, listener);
    int start = 0;
    while (start < diffusion.tokens()) {
      int end = start + Math.min(blocks.size(), diffusion.tokens() - start);
      int steps = stepsUntil(end, diffusion) - stepsUntil(start, diffusion);
      run.block(
          start == 0 ? 0 : prompt.length + start,
          prompt.length + end,
          diffusion.part(end - start, Math.max(1, steps)));
      start = end;
    }
    return sequence;
  }

  private static int stepsUntil(int tokens, Diffusion diffusion) {
    return (int) ((long) diffusion.steps() * tokens / diffusion.tokens());
  }

  /** One generation. */
  private final class Run {
    private final int[] sequence;
    private final Blocks blocks;
    private final Listener listener;
    private final SplittableRandom random;
    private final Distribution distribution = new Distribution(session.vocabulary());
    private int step;

    Run(int[] sequence, Diffusion diffusion, Blocks blocks, Listener listener) {
      this.sequence = sequence;
      this.blocks = blocks;
      this.listener = listener;
      random = new SplittableRandom(diffusion.seed());
    }

    /** Fills in the masks of some positions, of which there is at least one. */
    void block(int from, int to, Diffusion part) {
      int first = masks(from, to).findFirst().orElseThrow();
      BlockPasses passes = new BlockPasses(session, blocks.cache(), first, to, sequence.length);
      // Enough for one mask a pass; that may not fill in all, as a model can choose the mask
      // itself.
      int most = blocks.threshold().isPresent() ? to - first : part.steps();
      for (int i = 0; i < most; i++) {
        List<Candidate> candidates = candidates(passes, from, to, part);
        List<Candidate> kept =
            blocks.threshold().isPresent()
                ? Selection.above(candidates, blocks.threshold().getAsDouble())
                : Selection.scheduled(candidates, i, part, random);
        keep(kept);
        if (masks(from, to).findAny().isEmpty()) {
          return;
        }
      }
    }

    private void keep(List<Candidate> kept) {
      int[] positions = kept.stream().mapToInt(Candidate::position).sorted().toArray();
      for (Candidate candidate : kept) {
        sequence[candidate.position()] = candidate.id();
      }
      listener.step(step++, positions, sequence);
    }

    private IntStream masks(int from, int to) {
      return IntStream.range(from, to).filter(position -> sequence[position] == mask);
    }

    /** One for each mask of some positions, in order. */
    private List<Candidate> candidates(BlockPasses passes, int from, int to, Diffusion part) {
      List<Candidate> candidates = new ArrayList<>();
      passes.run(
          sequence,
          row -> follows(row, from, to) >= 0,
          (row, logits) -> {
            distribution.set(logits, part);
            int id = distribution.choose(part, random);
            double confidence = distribution.confidence(id, part.algorithm());
            candidates.add(new Candidate(follows(row, from, to), id, confidence));
          });
      return candidates;
    }

    /** The mask whose logits a row holds; -1 if there is none. The first row tells itself, too. */
    private int follows(int row, int from, int to) {
      if (row + 1 >= from && row + 1 < to && sequence[row + 1] == mask) {
        return row + 1;
      }
      return row == 0 && from == 0 && sequence[0] == mask ? 0 : -1;
    }
  }
}

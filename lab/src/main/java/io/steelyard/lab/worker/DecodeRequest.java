package io.steelyard.lab.worker;

import java.util.List;

/**
 * Tokens to generate.
 *
 * <p>All prompt tokens but the last are in the cache before the clock starts. The last one is the
 * input of the first timed pass, so {@code tokens} passes give {@code tokens} ids.
 *
 * @param ids the prompt, at least one token
 * @param tokens how many to generate; the length is forced unless {@code stop} holds ids
 * @param sampling how the next token is chosen
 * @param margins whether to report the gap between the two largest logits of each position
 * @param stream whether each token is told as it is generated
 * @param stop token ids that end the generation; empty in measurements
 */
public record DecodeRequest(
    int[] ids, int tokens, Sampling sampling, boolean margins, boolean stream, List<Integer> stop) {

  /**
   * How a token is chosen from logits: penalties and temperature, then top-k, typical, top-p and
   * min-p, each over the probabilities of what the ones before it have left.
   *
   * @param temperature 0 takes the most likely token (ties: lowest id)
   * @param topK keep this many tokens; 0 keeps all
   * @param typical keep the tokens whose surprise is closest to the entropy up to this probability;
   *     1 keeps all
   * @param topP keep the most likely tokens up to this probability; 1 keeps all
   * @param minP drop tokens below this share of the largest probability; 0 keeps all
   * @param penalties of tokens already seen
   * @param seed of the generator
   */
  public record Sampling(
      float temperature,
      int topK,
      float typical,
      float topP,
      float minP,
      Penalties penalties,
      long seed) {
    public static final Sampling GREEDY = new Sampling(0, 0, 1, 0, 0);

    /** Without typical and penalties. */
    public Sampling(float temperature, int topK, float topP, float minP, long seed) {
      this(temperature, topK, 1, topP, minP, Penalties.NONE, seed);
    }
  }

  /**
   * What the logit of a token loses that stands among the last ones of prompt and answer.
   *
   * @param repeat divides it where it is positive and multiplies it where it is negative; 1 is none
   * @param last how many tokens back count; 0 none, −1 all
   * @param frequency subtracted for each time the token stands there
   * @param presence subtracted once
   */
  public record Penalties(float repeat, int last, float frequency, float presence) {
    public static final Penalties NONE = new Penalties(1, 0, 0, 0);
  }

  /** Free greedy decoding of a forced length: the call that is timed. */
  public static DecodeRequest greedy(int[] ids, int tokens, boolean margins) {
    return new DecodeRequest(ids, tokens, Sampling.GREEDY, margins, false, List.of());
  }
}

package io.steelyard.models.sampling;

/**
 * How a token is chosen from logits: penalties and temperature, then top-k, typical, top-p and
 * min-p, each over the probabilities of what the ones before it have left. At least one token is
 * always left. The messages of what is refused begin with the option's name.
 *
 * @param temperature divides the logits; 0 takes the most likely token (ties: lowest id)
 * @param topK keep this many tokens; 0 keeps all
 * @param typical keep the tokens whose surprise, −log p, is closest to the expected one, the
 *     entropy, until their probability reaches this; 1 keeps all. Meister et al., "Locally Typical
 *     Sampling" (2022)
 * @param topP keep the most likely tokens until their probability reaches this, the token that
 *     crosses it included; 1 keeps all
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
  /** Always the most likely token. */
  public static final Sampling GREEDY = new Sampling(0, 0, 1, 0, 0);

  public Sampling {
    if (!(temperature >= 0) || Float.isInfinite(temperature)) {
      throw new IllegalArgumentException(
          "temperature " + temperature + " is not 0 or more; 0 takes the most likely token");
    }
    if (topK < 0) {
      throw new IllegalArgumentException("top-k " + topK + " is not 0 or more; 0 keeps all tokens");
    }
    requireShare("typical", typical);
    requireShare("top-p", topP);
    if (!(minP >= 0 && minP <= 1)) {
      throw new IllegalArgumentException("min-p " + minP + " is not from 0 to 1; 0 keeps all");
    }
  }

  /** Without typical and penalties. */
  public Sampling(float temperature, int topK, float topP, float minP, long seed) {
    this(temperature, topK, 1, topP, minP, Penalties.NONE, seed);
  }

  private static void requireShare(String name, float share) {
    if (!(share > 0 && share <= 1)) {
      throw new IllegalArgumentException(
          name + " " + share + " is not above 0 and at most 1; 1 keeps all tokens");
    }
  }

  /** Whether no chance is involved. */
  public boolean greedy() {
    return temperature == 0;
  }
}

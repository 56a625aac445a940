package io.steelyard.models.sampling;

/**
 * How a token is chosen from logits: temperature, then top-k, top-p and min-p.
 *
 * @param temperature divides the logits; 0 takes the most likely token (ties: lowest id)
 * @param topK keep this many tokens; 0 keeps all
 * @param topP keep the most likely tokens until their probability reaches this, the token that
 *     crosses it included; 1 keeps all
 * @param minP drop tokens below this share of the largest probability; 0 keeps all
 * @param seed of the generator
 */
public record Sampling(float temperature, int topK, float topP, float minP, long seed) {
  /** Always the most likely token. */
  public static final Sampling GREEDY = new Sampling(0, 0, 1, 0, 0);

  public Sampling {
    if (!(temperature >= 0) || Float.isInfinite(temperature)) {
      throw new IllegalArgumentException("temperature " + temperature + " is not 0 or more");
    }
    if (topK < 0) {
      throw new IllegalArgumentException("top-k " + topK + " is not 0 or more");
    }
    if (!(topP > 0 && topP <= 1)) {
      throw new IllegalArgumentException("top-p " + topP + " is not above 0 and at most 1");
    }
    if (!(minP >= 0 && minP <= 1)) {
      throw new IllegalArgumentException("min-p " + minP + " is not from 0 to 1");
    }
  }

  /** Whether no chance is involved. */
  public boolean greedy() {
    return temperature == 0;
  }
}

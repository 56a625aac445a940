package io.steelyard.app;

import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.models.sampling.Penalties;
import io.steelyard.models.sampling.Sampling;
import picocli.CommandLine.Option;

/** How a generated token is chosen. */
final class SamplingOptions {
  @Option(
      names = "--temperature",
      paramLabel = "T",
      defaultValue = "0",
      description = "0 takes the most likely token")
  private float temperature;

  @Option(
      names = "--top-k",
      paramLabel = "K",
      defaultValue = "0",
      description = "keep the K most likely tokens; 0 keeps all")
  private int topK;

  @Option(
      names = "--top-p",
      paramLabel = "P",
      defaultValue = "1",
      description = "keep the most likely tokens up to this probability")
  private float topP;

  @Option(
      names = "--min-p",
      paramLabel = "P",
      defaultValue = "0",
      description = "drop tokens below this share of the largest probability")
  private float minP;

  @Option(
      names = "--typical",
      paramLabel = "P",
      defaultValue = "1",
      description = "keep the tokens closest to the expected surprise up to this probability")
  private float typical;

  @Option(
      names = "--repeat-penalty",
      paramLabel = "R",
      defaultValue = "1",
      description = "divides positive logits of tokens seen, multiplies negative ones; 1: none")
  private float repeatPenalty;

  @Option(
      names = "--frequency-penalty",
      paramLabel = "F",
      defaultValue = "0",
      description = "subtracted from a token's logit for each time it was seen")
  private float frequencyPenalty;

  @Option(
      names = "--presence-penalty",
      paramLabel = "F",
      defaultValue = "0",
      description = "subtracted from the logits of tokens seen")
  private float presencePenalty;

  @Option(
      names = "--repeat-last",
      paramLabel = "N",
      defaultValue = "64",
      description = {
        "a token is seen if it is among the last N of prompt and answer; -1: of all, 0: none is"
      })
  private int repeatLast;

  @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = "of the sampling")
  private long seed;

  /** 0 for greedy decoding. */
  float temperature() {
    return temperature;
  }

  float topP() {
    return topP;
  }

  int topK() {
    return topK;
  }

  long seed() {
    return seed;
  }

  /**
   * How tokens are chosen.
   *
   * @throws UsageException if it makes no sense
   */
  Sampling sampling() {
    try {
      Penalties penalties =
          new Penalties(repeatPenalty, repeatLast, frequencyPenalty, presencePenalty);
      return new Sampling(temperature, topK, typical, topP, minP, penalties, seed);
    } catch (IllegalArgumentException e) {
      throw new UsageException("--" + e.getMessage());
    }
  }

  /**
   * What the engine is asked for.
   *
   * @throws UsageException if it makes no sense, before an engine starts
   */
  DecodeRequest.Sampling request() {
    boolean plain = sampling().penalties().none();
    return new DecodeRequest.Sampling(
        temperature,
        topK,
        typical,
        topP,
        minP,
        plain
            ? DecodeRequest.Penalties.NONE
            : new DecodeRequest.Penalties(
                repeatPenalty, repeatLast, frequencyPenalty, presencePenalty),
        seed);
  }
}

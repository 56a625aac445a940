package io.steelyard.models.architecture;

import io.steelyard.kernels.AttentionRule;
import io.steelyard.kernels.Matrix;
import io.steelyard.kernels.Rows;
import java.util.Optional;

/**
 * A block's attention with its weights.
 *
 * @param queryKeyValue rows of all queries, then of all keys, then of all values
 * @param bias of these, in one row
 * @param queryNorm of a head's query, or of all together
 * @param keyNorm likewise
 * @param positions how queries and keys are turned; empty where they aren't
 * @param output back to the width of the hidden state
 * @param outputBias its bias
 * @param rule how scores are formed and what is seen
 */
record SelfAttention(
    Matrix queryKeyValue,
    Optional<Rows> bias,
    Optional<Norm> queryNorm,
    Optional<Norm> keyNorm,
    Optional<Positions> positions,
    Matrix output,
    Optional<Rows> outputBias,
    AttentionRule rule) {

  /** The same that turns queries and keys. */
  SelfAttention turned(Positions by) {
    return new SelfAttention(
        queryKeyValue, bias, queryNorm, keyNorm, Optional.of(by), output, outputBias, rule);
  }

  /** The same that norms queries and keys before they are turned. */
  SelfAttention normed(Norm query, Norm key) {
    return new SelfAttention(
        queryKeyValue,
        bias,
        Optional.of(query),
        Optional.of(key),
        positions,
        output,
        outputBias,
        rule);
  }
}

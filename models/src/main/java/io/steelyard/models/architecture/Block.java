package io.steelyard.models.architecture;

import java.util.Optional;

/**
 * A transformer block: attention, then feed-forward, each added to the hidden state. Either may be
 * normed before, after, or both.
 */
record Block(
    Optional<Norm> attentionNorm,
    SelfAttention attention,
    Optional<Norm> attentionPostNorm,
    Optional<Norm> feedForwardNorm,
    FeedForward feedForward,
    Optional<Norm> feedForwardPostNorm) {

  /** The usual block, with norms before. */
  static Block preNorm(
      Norm attentionNorm, SelfAttention attention, Norm feedForwardNorm, FeedForward feedForward) {
    return new Block(
        Optional.of(attentionNorm),
        attention,
        Optional.empty(),
        Optional.of(feedForwardNorm),
        feedForward,
        Optional.empty());
  }

  /** The same with norms of what is added, too. */
  Block postNorm(Norm ofAttention, Norm ofFeedForward) {
    return new Block(
        attentionNorm,
        attention,
        Optional.of(ofAttention),
        feedForwardNorm,
        feedForward,
        Optional.of(ofFeedForward));
  }
}

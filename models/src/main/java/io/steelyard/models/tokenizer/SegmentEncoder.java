package io.steelyard.models.tokenizer;

/** Encodes a stretch of text that holds no special token. */
sealed interface SegmentEncoder
    permits BytePairEncoder, SentencePieceEncoder, PipelineEncoder, PipelineEncoder.Normalized {
  /**
   * Appends the tokens of {@code text[from, to)} to {@code ids}.
   *
   * @param text well-formed UTF-16
   * @param first whether the stretch begins the text or follows a special token
   */
  void encode(String text, int from, int to, boolean first, IntSequence ids);
}

package io.steelyard.models.tokenizer;

/**
 * Text is normalised, cut into words, and each word encoded by itself.
 *
 * @param normalizer what is done to the text first
 * @param words cuts it
 * @param model encodes a word
 */
record PipelineEncoder(Normalizer normalizer, WordSplitter words, WordEncoder model)
    implements SegmentEncoder {

  /** Encodes a word that is not empty. */
  @FunctionalInterface
  interface WordEncoder {
    void encode(String word, IntSequence ids);
  }

  /** Normalises text for an encoder that has its own way with words. */
  record Normalized(Normalizer normalizer, SegmentEncoder encoder) implements SegmentEncoder {
    @Override
    public void encode(String text, int from, int to, boolean first, IntSequence ids) {
      String normal = Utf8.wellFormed(normalizer.apply(text.substring(from, to)));
      if (!normal.isEmpty()) {
        encoder.encode(normal, 0, normal.length(), first, ids);
      }
    }
  }

  @Override
  public void encode(String text, int from, int to, boolean first, IntSequence ids) {
    String normal = Utf8.wellFormed(normalizer.apply(text.substring(from, to)));
    if (normal.isEmpty()) {
      return;
    }
    for (String word : words.split(normal, from == 0)) {
      if (!word.isEmpty()) {
        model.encode(word, ids);
      }
    }
  }
}

package io.steelyard.models.tokenizer;

/**
 * BERT's WordPiece: from the left, always the longest token that fits; a word that can't be made of
 * tokens is unknown as a whole (Wu et al. 2016, arXiv:1609.08144). As in GGUF, a token that begins
 * a word is spelled with {@link SentencePieceEncoder#SPACE} before it, one that goes on with
 * nothing.
 */
final class WordPieceEncoder implements PipelineEncoder.WordEncoder {
  private final Vocabulary vocabulary;
  private final int unknown;
  private final int longestWord;
  private final int longestToken;

  /**
   * @param unknown the token for a word that can't be made of tokens, -1 to leave it out
   * @param longestWord characters beyond which a word is unknown
   */
  WordPieceEncoder(Vocabulary vocabulary, int unknown, int longestWord) {
    this.vocabulary = vocabulary;
    this.unknown = unknown;
    this.longestWord = longestWord;
    int longest = 0;
    for (int id = 0; id < vocabulary.size(); id++) {
      longest = Math.max(longest, vocabulary.piece(id).length());
    }
    longestToken = longest;
  }

  @Override
  public void encode(String word, IntSequence ids) {
    String text = SentencePieceEncoder.SPACE + word;
    IntSequence found = new IntSequence(8);
    boolean known = word.codePointCount(0, word.length()) <= longestWord;
    for (int at = 0; known && at < text.length(); ) {
      int end = Math.min(text.length(), at + longestToken);
      int id = -1;
      while (end > at && (id = vocabulary.idOf(text.substring(at, end))) < 0) {
        end--;
      }
      known = id >= 0;
      found.add(id);
      at = end;
    }
    if (known) {
      for (int id : found.toArray()) {
        ids.add(id);
      }
    } else if (unknown >= 0) {
      ids.add(unknown);
    }
  }
}

package io.steelyard.models.safetensors;

import io.steelyard.models.ModelException;
import io.steelyard.models.tokenizer.TokenType;
import java.util.Map;

/**
 * All tokens by id: those of the vocabulary, those added to it, and ids that no token has.
 *
 * @param texts as GGUF spells them
 * @param types of the same order
 * @param added those that were added
 */
record TokenList(String[] texts, TokenType[] types, AddedTokens added) {
  /** SentencePiece's spelling of a space. */
  static final String PIECE_SPACE = "▁";

  private static final int MOST_UNUSED = 1 << 16;

  /**
   * Lists a tokenizer's tokens.
   *
   * @throws ModelException if the files are damaged, or have more tokens than the model, or far
   *     fewer
   */
  static TokenList of(TokenizerFiles files, CheckpointConfig config, Family family) {
    Map<Integer, String> byId = StoredVocabulary.of(files);
    AddedTokens added = AddedTokens.of(files);
    added.all().forEach(token -> byId.put(token.id(), token.content()));
    TokenTypes typeOf = new TokenTypes(files, added);
    int size = size(files, byId, config, family);
    String[] texts = new String[size];
    TokenType[] types = new TokenType[size];
    for (int id = 0; id < size; id++) {
      String token = byId.get(id);
      if (token == null) {
        texts[id] = "[PAD" + id + "]";
        types[id] = TokenType.UNUSED;
      } else {
        types[id] = typeOf.of(id, token);
        boolean inText = types[id] == TokenType.USER_DEFINED && added.find(id).isPresent();
        texts[id] = inText ? token.replace(PIECE_SPACE, " ") : token;
      }
    }
    return new TokenList(texts, types, added);
  }

  private static int size(
      TokenizerFiles files, Map<Integer, String> byId, CheckpointConfig config, Family family) {
    int known = 1 + byId.keySet().stream().mapToInt(Integer::intValue).max().orElse(-1);
    int size = config.optionalCount("vocab_size").orElse(known);
    // Gemma 3 has rows of embeddings that no token uses, which llama.cpp leaves out.
    size = family == Family.GEMMA3 ? Math.min(size, known) : size;
    if (known > size || size > TokenizerFiles.MOST_TOKENS) {
      throw files.fault(
          "the tokenizer has tokens up to %d where the model has %d".formatted(known - 1, size));
    }
    // Far more ids than tokens are no vocabulary, and would cost memory that no file accounts for.
    if (size > 2L * byId.size() + MOST_UNUSED) {
      throw files.fault(
          "the tokenizer has %d tokens for %d ids; fetch it again".formatted(byId.size(), size));
    }
    return size;
  }

  int size() {
    return texts.length;
  }
}

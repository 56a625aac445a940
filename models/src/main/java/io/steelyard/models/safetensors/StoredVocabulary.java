package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import java.util.HashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** The vocabulary as the files have it, without added tokens, spelled as GGUF does. */
final class StoredVocabulary {
  private final TokenizerFiles files;

  private StoredVocabulary(TokenizerFiles files) {
    this.files = files;
  }

  /**
   * The tokens by id.
   *
   * @throws ModelException if the files are damaged
   */
  static Map<Integer, String> of(TokenizerFiles files) {
    StoredVocabulary vocabulary = new StoredVocabulary(files);
    if (files.sentencePiece().isPresent()) {
      return pieces(files.sentencePiece().get());
    }
    return files.kind() == TokenizerKind.UNIGRAM ? vocabulary.unigram() : vocabulary.named();
  }

  private static Map<Integer, String> pieces(SentencePieceModel model) {
    Map<Integer, String> byId = new HashMap<>();
    model.pieces().forEach(piece -> byId.put(byId.size(), piece.text()));
    return byId;
  }

  private Map<Integer, String> unigram() {
    Map<Integer, String> byId = new HashMap<>();
    for (JsonNode piece : files.model().path("vocab")) {
      if (piece.size() != 2 || !piece.path(0).isString() || !piece.path(1).isNumber()) {
        throw files.fault(
            "'vocab' has %s, which is no piece with a score"
                .formatted(printable(piece.toString())));
      }
      byId.put(byId.size(), piece.path(0).asString());
    }
    return byId;
  }

  private Map<Integer, String> named() {
    JsonNode vocabulary = files.model().path("vocab");
    if (!vocabulary.isObject()) {
      throw files.fault("'vocab' is missing or no object");
    }
    Map<Integer, String> byId = new HashMap<>();
    for (Map.Entry<String, JsonNode> token : vocabulary.properties()) {
      String spelled =
          files.kind() == TokenizerKind.WORD_PIECE ? wordPiece(token.getKey()) : token.getKey();
      if (byId.put(files.id(token.getValue(), token.getKey()), spelled) != null) {
        throw files.fault("two tokens have the id %s".formatted(token.getValue()));
      }
    }
    return byId;
  }

  /** GGUF marks tokens that begin a word, where BERT's files mark those that go on with one. */
  private String wordPiece(String token) {
    String mark = files.model().path("continuing_subword_prefix").asString("##");
    if (token.startsWith("[") && token.endsWith("]")) {
      return token;
    }
    return token.startsWith(mark) && !mark.isEmpty() && token.length() > mark.length()
        ? token.substring(mark.length())
        : TokenList.PIECE_SPACE + token;
  }
}

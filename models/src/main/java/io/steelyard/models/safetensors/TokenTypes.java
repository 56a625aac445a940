package io.steelyard.models.safetensors;

import io.steelyard.models.tokenizer.TokenType;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** Tells the types that GGUF gives to tokens. */
final class TokenTypes {
  private final TokenizerFiles files;
  private final AddedTokens added;

  TokenTypes(TokenizerFiles files, AddedTokens added) {
    this.files = files;
    this.added = added;
  }

  /** The type of a token that has an id. */
  TokenType of(int id, String token) {
    Optional<SentencePieceModel> sentencePiece = files.sentencePiece();
    if (sentencePiece.isPresent() && id < sentencePiece.get().pieces().size()) {
      return TokenType.of(sentencePiece.get().pieces().get(id).type());
    }
    if (isUnknown(id, token)) {
      return TokenType.UNKNOWN;
    }
    Optional<AddedTokens.Added> known = added.find(id);
    if (known.isPresent()) {
      return known.get().special() || looksSpecial(token)
          ? TokenType.CONTROL
          : TokenType.USER_DEFINED;
    }
    return hasBytes() && token.matches("<0x[0-9A-Fa-f]{2}>") ? TokenType.BYTE : TokenType.NORMAL;
  }

  private boolean isUnknown(int id, String token) {
    JsonNode model = files.model();
    return switch (files.kind()) {
      case BYTE_LEVEL -> false;
      case PIECES, WORD_PIECE -> token.equals(model.path("unk_token").asString(""));
      case UNIGRAM -> id == model.path("unk_id").asInt(-1);
    };
  }

  /** Whether bytes that are part of no token have tokens of their own. */
  private boolean hasBytes() {
    return switch (files.kind()) {
      case PIECES -> true;
      case UNIGRAM -> files.model().path("byte_fallback").asBoolean(false);
      case BYTE_LEVEL, WORD_PIECE -> false;
    };
  }

  /** Tokens that steer a model though their files don't mark them; llama.cpp's list. */
  private static boolean looksSpecial(String token) {
    return List.of("<pad>", "<mask>", "<2mass>", "[@BOS@]").contains(token)
        || (token.startsWith("<|") && token.endsWith("|>"))
        || (token.startsWith("<｜") && token.endsWith("｜>"))
        || (token.startsWith("<unused") && token.endsWith(">"));
  }
}

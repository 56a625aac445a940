package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import java.nio.file.Path;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** The kinds of tokenizers that are read. */
enum TokenizerKind {
  /** BPE over an alphabet of bytes. */
  BYTE_LEVEL,

  /** BPE over SentencePiece's pieces with byte fallback. */
  PIECES,

  UNIGRAM,
  WORD_PIECE;

  /**
   * The kind of a tokenizer.
   *
   * @param file for messages
   * @param model {@code tokenizer.json}'s model; not asked where there is a SentencePiece model
   * @throws ModelException if it is of another kind
   */
  static TokenizerKind of(Path file, JsonNode model, Optional<SentencePieceModel> sentencePiece) {
    if (sentencePiece.isPresent()) {
      return sentencePiece.get().unigram() ? UNIGRAM : PIECES;
    }
    String type = model.path("type").asString("BPE");
    return switch (type) {
      case "BPE" -> model.path("byte_fallback").asBoolean(false) ? PIECES : BYTE_LEVEL;
      case "Unigram" -> UNIGRAM;
      case "WordPiece" -> WORD_PIECE;
      default ->
          throw new ModelException(
              "%s: the tokenizer is of type '%s', which isn't supported; BPE, Unigram and WordPiece are"
                  .formatted(file, printable(type)));
    };
  }
}

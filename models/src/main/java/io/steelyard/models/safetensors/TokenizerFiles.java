package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import java.nio.file.Path;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * What a checkpoint's folder holds of its tokenizer: {@code tokenizer.json}, or {@code vocab.json}
 * and {@code merges.txt} as if they were one, or SentencePiece's {@code tokenizer.model}; and
 * {@code tokenizer_config.json}.
 *
 * @param folder where they lie
 * @param file for messages
 * @param tokenizer {@code tokenizer.json}; an empty object where there is a SentencePiece model
 * @param settings {@code tokenizer_config.json}; an empty object where there is none
 * @param sentencePiece the SentencePiece model where there is nothing else
 * @param kind what kind of tokenizer it is
 */
record TokenizerFiles(
    Path folder,
    Path file,
    JsonNode tokenizer,
    JsonNode settings,
    Optional<SentencePieceModel> sentencePiece,
    TokenizerKind kind) {
  /** More tokens than any vocabulary has. */
  static final int MOST_TOKENS = 1 << 22;

  private static final int MOST_BYTES = 64 << 20;
  private static final int MOST_SETTINGS_BYTES = 16 << 20;

  /**
   * Reads a folder's files; nothing where there is no tokenizer.
   *
   * @throws ModelException if a file is damaged or the tokenizer of another kind
   */
  static Optional<TokenizerFiles> of(Path folder) {
    Path file = folder.resolve("tokenizer.json");
    Optional<JsonNode> tokenizer = JsonFile.read(file, MOST_BYTES);
    JsonNode settings =
        JsonFile.read(folder.resolve("tokenizer_config.json"), MOST_SETTINGS_BYTES)
            .orElseGet(JsonNodeFactory.instance::objectNode);
    if (tokenizer.isEmpty()) {
      tokenizer = VocabularyFiles.of(folder, settings);
    }
    if (tokenizer.isPresent()) {
      JsonNode read = tokenizer.get();
      TokenizerKind kind = TokenizerKind.of(file, read.path("model"), Optional.empty());
      return Optional.of(new TokenizerFiles(folder, file, read, settings, Optional.empty(), kind));
    }
    return SentencePieceModel.of(folder)
        .map(
            pieces -> {
              JsonNode none = JsonNodeFactory.instance.objectNode();
              Optional<SentencePieceModel> present = Optional.of(pieces);
              TokenizerKind kind = TokenizerKind.of(pieces.file(), none, present);
              return new TokenizerFiles(folder, pieces.file(), none, settings, present, kind);
            });
  }

  /** What {@code tokenizer.json} says of the vocabulary and of how words are cut into tokens. */
  JsonNode model() {
    return tokenizer.path("model");
  }

  /** The template of a conversation: the default one where there are several. */
  Optional<String> chatTemplate() {
    JsonNode given = settings.path("chat_template");
    if (given.isString()) {
      return Optional.of(given.asString());
    }
    if (!given.isArray()) {
      return JsonFile.text(folder.resolve("chat_template.jinja"), MOST_SETTINGS_BYTES);
    }
    Optional<String> template = Optional.empty();
    for (JsonNode each : given) {
      if (each.path("name").asString("").equals("default")) {
        template = Optional.of(each.path("template").asString(""));
      }
    }
    return template;
  }

  /**
   * A token's id.
   *
   * @param what it is the id of
   * @throws ModelException if it is none
   */
  int id(JsonNode value, String what) {
    if (!value.isIntegralNumber()
        || !value.canConvertToInt()
        || value.asInt() < 0
        || value.asInt() >= MOST_TOKENS) {
      throw fault(
          "the id of '%s' is %s where a whole number below %d is needed"
              .formatted(printable(what), printable(value.toString()), MOST_TOKENS));
    }
    return value.asInt();
  }

  /** That the tokenizer can't be read. */
  ModelException fault(String what) {
    return new ModelException(file + ": " + what);
  }
}

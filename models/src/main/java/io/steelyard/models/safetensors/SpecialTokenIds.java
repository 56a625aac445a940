package io.steelyard.models.safetensors;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;

/** The ids of tokens that have a task, such as to begin a text. */
final class SpecialTokenIds {
  /** GGUF's names by those of {@code tokenizer_config.json}; GGUF's own spelling. */
  private static final Map<String, String> SPECIAL =
      Map.of("unk", "unknown", "sep", "seperator", "pad", "padding", "cls", "cls", "mask", "mask");

  private final TokenizerFiles files;
  private final AddedTokens added;
  private final Map<String, Object> values = new LinkedHashMap<>();

  private SpecialTokenIds(TokenizerFiles files, AddedTokens added) {
    this.files = files;
    this.added = added;
  }

  /** GGUF's metadata of them. */
  static Map<String, Object> of(TokenizerFiles files, AddedTokens added, CheckpointConfig config) {
    SpecialTokenIds ids = new SpecialTokenIds(files, added);
    ids.read(config);
    return ids.values;
  }

  private void read(CheckpointConfig config) {
    files.sentencePiece().ifPresent(this::ofSentencePiece);
    putPresent("unknown", unknown());
    if (files.kind() == TokenizerKind.WORD_PIECE) {
      // Where GGUF has the tokens that BERT puts around texts.
      named("cls").ifPresent(id -> put("bos", id));
    }
    for (String name : new String[] {"bos", "eos"}) {
      OptionalInt id = named(name);
      (id.isPresent() ? id : config.token(name + "_token_id")).ifPresent(value -> put(name, value));
    }
    SPECIAL.forEach((name, key) -> named(name).ifPresent(value -> put(key, value)));
    config.token("mask_token_id").ifPresent(value -> values.putIfAbsent(key("mask"), value));
  }

  private void ofSentencePiece(SentencePieceModel model) {
    putPresent("bos", model.bos());
    putPresent("eos", model.eos());
    putPresent("unknown", model.unknown());
    putPresent("padding", model.padding());
  }

  private void putPresent(String name, int id) {
    if (id >= 0) {
      put(name, id);
    }
  }

  private void put(String name, int id) {
    values.put(key(name), id);
  }

  private static String key(String name) {
    return "tokenizer.ggml." + name + "_token_id";
  }

  /** Of the kinds that have one; those of others are special tokens like all. */
  private int unknown() {
    JsonNode model = files.model();
    return switch (files.kind()) {
      case UNIGRAM -> model.path("unk_id").asInt(-1);
      case WORD_PIECE ->
          model.path("vocab").path(model.path("unk_token").asString("[UNK]")).asInt(-1);
      case BYTE_LEVEL, PIECES -> -1;
    };
  }

  /** The token that {@code tokenizer_config.json} names for a task. */
  private OptionalInt named(String task) {
    JsonNode token = files.settings().path(task + "_token");
    return added.idOf((token.isObject() ? token.path("content") : token).asString(""));
  }
}

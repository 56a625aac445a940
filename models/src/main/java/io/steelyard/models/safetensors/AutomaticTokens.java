package io.steelyard.models.safetensors;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** What texts are given unasked: tokens that begin and end them, and a space before them. */
final class AutomaticTokens {
  private AutomaticTokens() {}

  /** GGUF's metadata of them. */
  static Map<String, Object> of(TokenizerFiles files) {
    Map<String, Object> values = new LinkedHashMap<>();
    TokenizerKind kind = files.kind();
    JsonNode begin = files.settings().path("add_bos_token");
    values.put(
        "tokenizer.ggml.add_bos_token",
        begin.isBoolean()
            ? begin.asBoolean()
            : templateBegins(files.tokenizer()).orElse(kind == TokenizerKind.PIECES));
    JsonNode end = files.settings().path("add_eos_token");
    if (end.isBoolean()) {
      values.put("tokenizer.ggml.add_eos_token", end.asBoolean());
    }
    if (kind == TokenizerKind.PIECES || kind == TokenizerKind.UNIGRAM) {
      values.put(
          "tokenizer.ggml.add_space_prefix",
          files
              .sentencePiece()
              .map(SentencePieceModel::spacePrefix)
              .orElseGet(() -> prependsSpace(files.tokenizer())));
    }
    return values;
  }

  /** Whether the template of a single text begins with a special token. */
  private static Optional<Boolean> templateBegins(JsonNode tokenizer) {
    JsonNode processor = tokenizer.path("post_processor");
    List<JsonNode> all = new ArrayList<>(List.of(processor));
    processor.path("processors").forEach(all::add);
    return all.stream()
        .filter(each -> each.path("type").asString("").equals("TemplateProcessing"))
        .map(each -> each.path("single").path(0).has("SpecialToken"))
        .findFirst();
  }

  private static boolean prependsSpace(JsonNode tokenizer) {
    JsonNode normalizer = tokenizer.path("normalizer");
    List<JsonNode> all = new ArrayList<>(List.of(normalizer, tokenizer.path("pre_tokenizer")));
    normalizer.path("normalizers").forEach(all::add);
    tokenizer.path("pre_tokenizer").path("pretokenizers").forEach(all::add);
    return all.stream()
        .anyMatch(
            each ->
                switch (each.path("type").asString("")) {
                  case "Prepend" -> true;
                  case "Metaspace" ->
                      each.path("add_prefix_space").asBoolean(true)
                          && !each.path("prepend_scheme").asString("").equals("never");
                  default -> false;
                });
  }
}

package io.steelyard.models.safetensors;

import io.steelyard.models.ModelException;
import io.steelyard.models.tokenizer.TokenType;
import io.steelyard.models.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** What GGUF says of a tokenizer, from the files of a checkpoint's folder. */
final class TokenizerMetadata {
  private final TokenizerFiles files;
  private final Map<String, Object> values = new LinkedHashMap<>();

  private TokenizerMetadata(TokenizerFiles files) {
    this.files = files;
  }

  /**
   * The metadata of a folder's tokenizer; that there is none where there is neither {@code
   * tokenizer.json} nor {@code tokenizer.model}.
   *
   * @throws ModelException if a file is damaged or the tokenizer of another kind
   */
  static Map<String, Object> of(Path folder, CheckpointConfig config, Family family) {
    Optional<TokenizerFiles> files = TokenizerFiles.of(folder);
    if (files.isEmpty()) {
      return Map.of("tokenizer.ggml.model", "no_vocab");
    }
    TokenizerMetadata metadata = new TokenizerMetadata(files.get());
    metadata.read(config, family);
    return metadata.values;
  }

  private void read(CheckpointConfig config, Family family) {
    algorithm();
    TokenList tokens = TokenList.of(files, config, family);
    values.put("tokenizer.ggml.tokens", List.of(tokens.texts()));
    TokenScores.of(files, tokens).ifPresent(scores -> values.put("tokenizer.ggml.scores", scores));
    values.put(
        "tokenizer.ggml.token_type",
        Arrays.stream(tokens.types()).mapToInt(TokenType::number).toArray());
    if (files.kind() == TokenizerKind.BYTE_LEVEL) {
      values.put("tokenizer.ggml.merges", Merges.of(files).written());
    }
    values.putAll(SpecialTokenIds.of(files, tokens.added(), config));
    values.putAll(AutomaticTokens.of(files));
    files.chatTemplate().ifPresent(text -> values.put("tokenizer.chat_template", text));
  }

  private void algorithm() {
    switch (files.kind()) {
      case BYTE_LEVEL -> {
        values.put("tokenizer.ggml.model", "gpt2");
        values.put(
            "tokenizer.ggml.pre",
            PreTokenizerName.of(files.file(), files.tokenizer(), files.model()));
      }
      case PIECES -> {
        values.put("tokenizer.ggml.model", "llama");
        values.put("tokenizer.ggml.pre", "default");
      }
      case UNIGRAM -> {
        values.put("tokenizer.ggml.model", "t5");
        values.put("tokenizer.ggml.pre", "default");
        pipeline();
      }
      case WORD_PIECE -> {
        values.put("tokenizer.ggml.model", "bert");
        values.put("tokenizer.ggml.pre", "default");
        values.put(Tokenizer.LONGEST_WORD, longestWord());
        pipeline();
      }
    }
    files.sentencePiece().ifPresent(this::sentencePieceSteps);
  }

  private void pipeline() {
    if (files.sentencePiece().isPresent()) {
      return;
    }
    TokenizerPipeline pipeline = new TokenizerPipeline(files.file(), files.tokenizer());
    values.put(Tokenizer.NORMALIZER, pipeline.normalizer());
    values.put(Tokenizer.PRE_TOKENIZER, pipeline.splitter());
    charsMap(pipeline.charsMap());
  }

  private void sentencePieceSteps(SentencePieceModel model) {
    if (!model.normalizer().isEmpty()) {
      values.put(Tokenizer.NORMALIZER, model.normalizer());
    }
    charsMap(model.charsMap());
    values.put("tokenizer.ggml.remove_extra_whitespaces", model.singleSpaces());
  }

  private void charsMap(byte[] map) {
    if (map.length > 0) {
      values.put("tokenizer.ggml.precompiled_charsmap", map);
    }
  }

  private int longestWord() {
    JsonNode longest = files.model().path("max_input_chars_per_word");
    return longest.canConvertToInt() && longest.asInt() >= 0 ? longest.asInt() : 100;
  }
}

package io.steelyard.models.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.models.ModelException;
import io.steelyard.models.gguf.Metadata;
import io.steelyard.models.tokenizer.TokenType;
import io.steelyard.models.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TokenizerMetadataTest {
  private static final String LLAMA3 =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}|"
          + " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+";

  private static final String BYTES = "{\"type\": \"ByteLevel\", \"use_regex\": false}";
  private static final String PRE = "tokenizer.ggml.pre";

  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {1,3} | true  | llama-bpe
          {1,3} | false | dbrx
          ''    | false | qwen2
          """)
  void knowsAPatternByWhatItSays(String digits, boolean wholeWords, String name)
      throws IOException {
    String split =
        """
        {"type": "Sequence", "pretokenizers": [
          {"type": "Split", "pattern": {"Regex": "%s"}, "behavior": "Isolated"},
          {"type": "ByteLevel", "use_regex": false}]}
        """
            .formatted(LLAMA3.replace("{1,3}", digits));

    assertThat(read(byteLevel(split, wholeWords)).string("tokenizer.ggml.pre")).isEqualTo(name);
  }

  @Test
  void knowsDigitsBeforeGpt2sPattern() throws IOException {
    String digits =
        """
        {"type": "Sequence", "pretokenizers": [
          {"type": "Digits", "individual_digits": true}, {"type": "ByteLevel", "use_regex": true}]}
        """;

    assertThat(read(byteLevel(digits, false)).string("tokenizer.ggml.pre")).isEqualTo("smollm");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      textBlock =
          """
          "[\\r\\n]", "\\\\s?\\\\p{L}+", "\\\\s?\\\\p{P}+", "[一-龥ࠀ-一가-\\ud7ff]+", "digits" ; deepseek-coder
          " ?[^(\\\\s|.,!?…。，、।۔،)]+"                                                    ; bloom
          " ?[^(\\\\s|.,!?…。，、।۔،)]+", "\\\\p{N}"                                         ; viking
          """)
  void knowsSeveralPatternsTogether(String patterns, String name) throws IOException {
    String steps =
        patterns
            .replaceAll(
                "\"((?:[^\"\\\\]|\\\\.)*)\"",
                "{\"type\": \"Split\", \"pattern\": {\"Regex\": \"$1\"}}")
            .replaceAll(
                "\\{\"type\": \"Split\", \"pattern\": \\{\"Regex\": \"digits\"}}",
                "{\"type\": \"Digits\", \"individual_digits\": true}");
    assertThat(read(byteLevel(sequence(steps + ", " + BYTES), false)).string(PRE)).isEqualTo(name);
  }

  @Test
  void knowsFalconsSteps() throws IOException {
    String steps =
        """
        {"type": "Punctuation", "behavior": "Contiguous"}, {"type": "ByteLevel"}, {"type": "Digits"},
        {"type": "Split", "pattern": {"Regex": "[0-9][0-9][0-9]"}}
        """;
    assertThat(read(byteLevel(sequence(steps), false)).string(PRE)).isEqualTo("falcon");
  }

  private static String sequence(String steps) {
    return "{\"type\": \"Sequence\", \"pretokenizers\": [%s]}".formatted(steps);
  }

  @Test
  void refusesAPatternThatHasNoName() {
    assertThatThrownBy(() -> read(byteLevel("{\"type\": \"Whitespace\"}", false)))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("tokenizer.json cuts text into words by 'Whitespace'");
  }

  @Test
  void vocabularyAndMergesInFilesOfTheirOwnAreATokenizer() throws IOException {
    Files.writeString(directory.resolve("vocab.json"), "{\"a\": 0, \"b\": 1, \"ab\": 2}");
    Files.writeString(directory.resolve("merges.txt"), "#version: 0.2\na b\n");
    Files.writeString(directory.resolve("config.json"), "{\"vocab_size\": 6}");
    settings(
        """
        {"tokenizer_class": "DreamTokenizer", "added_tokens_decoder": {
          "3": {"content": "<|mask|>", "special": true}}}
        """);
    CheckpointConfig config = CheckpointConfig.read(directory);
    Metadata metadata = new Metadata("test", TokenizerMetadata.of(directory, config, Family.DREAM));
    assertThat(metadata.string(PRE)).isEqualTo("qwen2");
    assertThat(Tokenizer.of(metadata).encode("ab<|mask|>", true)).containsExactly(2, 3);

    settings("{\"tokenizer_class\": \"OddTokenizer\"}");
    assertThatThrownBy(() -> TokenizerMetadata.of(directory, config, Family.DREAM))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("the class 'OddTokenizer'");
  }

  @Test
  void refusesFarMoreIdsThanTokens() {
    String tokenizer = byteLevel("{\"type\": \"ByteLevel\"}", false);
    assertThatThrownBy(() -> read(tokenizer.replace("\"id\": 4", "\"id\": 4000000"), 4_000_001))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("has 5 tokens for 4000001 ids");
  }

  @Test
  void readsBothSpellingsOfMergesAndAddedTokens() throws IOException {
    Metadata metadata =
        read(byteLevel("{\"type\": \"ByteLevel\"}", false).replace("\"a b\"", "[\"a\", \"b\"]"));

    assertThat(metadata.strings("tokenizer.ggml.merges")).containsExactly("a b");
    assertThat(metadata.strings("tokenizer.ggml.tokens"))
        .containsExactly("a", "b", "ab", "<|end|>", "<tool>", "[PAD5]");
    assertThat(metadata.ints("tokenizer.ggml.token_type"))
        .containsExactly(
            TokenType.NORMAL.number(),
            TokenType.NORMAL.number(),
            TokenType.NORMAL.number(),
            TokenType.CONTROL.number(),
            TokenType.USER_DEFINED.number(),
            TokenType.UNUSED.number());
    assertThat(metadata.integer("tokenizer.ggml.eos_token_id")).isEqualTo(3);
  }

  @Test
  void piecesWithByteFallbackMergeInTheOrderOfTheirMerges() throws IOException {
    Metadata metadata =
        read(
            """
            {"added_tokens": [{"id": 0, "content": "<unk>", "special": true},
                              {"id": 1, "content": "<s>", "special": true}],
             "normalizer": {"type": "Prepend", "prepend": "▁"},
             "post_processor": {"type": "TemplateProcessing", "single": [
               {"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]},
             "model": {"type": "BPE", "byte_fallback": true, "unk_token": "<unk>",
               "vocab": {"<unk>": 0, "<s>": 1, "<0x41>": 2, "▁": 3, "b": 4, "c": 5, "▁b": 6,
                         "bc": 7},
               "merges": ["b c", "▁ b"]}}
            """);
    Tokenizer tokenizer = Tokenizer.of(metadata);

    assertThat(tokenizer.encode("bcA", false)).containsExactly(3, 7, 2);
    assertThat(tokenizer.addBos()).isTrue();
    assertThat(metadata.string("tokenizer.ggml.model")).isEqualTo("llama");
    assertThat(metadata.flag("tokenizer.ggml.add_space_prefix", false)).isTrue();
    assertThat(tokenizer.type(0)).isEqualTo(TokenType.UNKNOWN);
    assertThat(tokenizer.type(2)).isEqualTo(TokenType.BYTE);
  }

  @Test
  void theChatTemplateIsThatOfTheSettingsOrTheFileBesideThem() throws IOException {
    String tokenizer = byteLevel("{\"type\": \"ByteLevel\"}", false);
    Files.writeString(directory.resolve("chat_template.jinja"), "from the file");

    assertThat(read(tokenizer).string("tokenizer.chat_template")).isEqualTo("from the file");
    settings("{\"chat_template\": \"from the settings\"}");
    assertThat(read(tokenizer).string("tokenizer.chat_template")).isEqualTo("from the settings");
    settings(
        """
        {"chat_template": [{"name": "tools", "template": "a"}, {"name": "default", "template": "b"}]}
        """);
    assertThat(read(tokenizer).string("tokenizer.chat_template")).isEqualTo("b");
  }

  @Test
  void refusesAnotherKindOfModel() {
    assertThatThrownBy(() -> read("{\"model\": {\"type\": \"WordLevel\", \"vocab\": {}}}"))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("tokenizer.json: the tokenizer is of type 'WordLevel'")
        .hasMessageContaining("BPE, Unigram and WordPiece");
  }

  private static String byteLevel(String preTokenizer, boolean wholeWords) {
    return """
    {"added_tokens": [{"id": 3, "content": "<|end|>", "special": true},
                      {"id": 4, "content": "<tool>", "special": false}],
     "pre_tokenizer": %s,
     "model": {"type": "BPE", "ignore_merges": %s, "vocab": {"a": 0, "b": 1, "ab": 2},
               "merges": ["a b"]}}
    """
        .formatted(preTokenizer, wholeWords);
  }

  private void settings(String json) throws IOException {
    Files.writeString(directory.resolve("tokenizer_config.json"), json);
  }

  private Metadata read(String tokenizer) throws IOException {
    return read(tokenizer, tokenizer.contains("byte_fallback") ? 8 : 6);
  }

  private Metadata read(String tokenizer, int size) throws IOException {
    Files.writeString(directory.resolve("tokenizer.json"), tokenizer);
    Files.writeString(
        directory.resolve("config.json"),
        "{\"vocab_size\": %d, \"eos_token_id\": [3, 4]}".formatted(size));
    Map<String, Object> values =
        TokenizerMetadata.of(directory, CheckpointConfig.read(directory), Family.LLAMA);
    return new Metadata("tokenizer.json", values);
  }
}

package io.steelyard.models.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.models.ModelException;
import io.steelyard.models.gguf.Metadata;
import io.steelyard.models.tokenizer.TokenType;
import io.steelyard.models.tokenizer.Tokenizer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Unigram models, WordPiece and SentencePiece's own files against Hugging Face's tokenizers,
 * SentencePiece and llama.cpp; pipelines/make.py made what they are held against.
 */
class PipelineCasesTest {
  private static final String AT = "/io/steelyard/models/tokenizer/pipelines/";

  @TempDir Path directory;

  private static byte[] resource(String name) throws IOException {
    try (InputStream in = PipelineCasesTest.class.getResourceAsStream(AT + name)) {
      return in.readAllBytes();
    }
  }

  private Map<String, Object> metadata(String resource, String file) throws IOException {
    Path folder = Files.createDirectories(directory.resolve(resource));
    Files.write(folder.resolve(file), resource(resource));
    Files.writeString(folder.resolve("config.json"), "{}");
    return TokenizerMetadata.of(folder, CheckpointConfig.read(folder), Family.LLAMA);
  }

  private static void check(String name, Map<String, Object> values, boolean special)
      throws IOException {
    Tokenizer tokenizer = Tokenizer.of(new Metadata(name, values));
    JsonNode cases = JsonMapper.shared().readTree(resource("cases.json"));
    JsonNode golden = cases.get("ids").get(name);
    assertThat(golden).hasSizeGreaterThan(80);
    for (int i = 0; i < golden.size(); i++) {
      String text = cases.get("texts").get(i).asString();
      if (golden.get(i).isNull()) {
        continue; // the script says why
      }
      assertThat(pieces(tokenizer, tokenizer.encode(text, special)))
          .as("%s: '%s'", name, text)
          .isEqualTo(pieces(tokenizer, ids(golden.get(i))));
    }
  }

  private static int[] ids(JsonNode node) {
    return StreamSupport.stream(node.spliterator(), false).mapToInt(JsonNode::asInt).toArray();
  }

  /** Ids with their spelling, which a failure is easier to read in. */
  private static List<String> pieces(Tokenizer tokenizer, int[] ids) {
    List<String> pieces = new ArrayList<>();
    for (int id : ids) {
      pieces.add(id + " " + tokenizer.piece(id));
    }
    return pieces;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "unigram-nfkc",
        "unigram-bytes",
        "unigram-lower",
        "unigram-charsmap",
        "wordpiece-uncased",
        "wordpiece-cased",
        "wordpiece-words"
      })
  void encodesAsHuggingFacesTokenizersDo(String name) throws IOException {
    check(name, metadata(name + ".json", "tokenizer.json"), true);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sentencepiece-unigram",
        "sentencepiece-unigram-bytes",
        "sentencepiece-bpe",
        "sentencepiece-bpe-rules"
      })
  void encodesAsSentencePieceDoes(String name) throws IOException {
    check(name, metadata(name + ".model", "tokenizer.model"), false);
  }

  /** In GGUF the kind says what is done to text, and llama.cpp does it. */
  @ParameterizedTest
  @ValueSource(strings = {"unigram-nfkc", "unigram-charsmap", "wordpiece-uncased"})
  void encodesWhatGgufSaysAsLlamaCppDoes(String name) throws IOException {
    Map<String, Object> values = new HashMap<>(metadata(name + ".json", "tokenizer.json"));
    values.keySet().removeIf(key -> key.startsWith("steelyard."));
    check(name + ".gguf", values, true);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          "normalizer": {"type": "ByteLevel"}                                           | normalizer 'ByteLevel'
          "normalizer": {"type": "Replace", "pattern": {"Regex": "(a+)+"}, "content": ""} | normalizer 'Replace of (a+)+'
          "normalizer": {"type": "Precompiled", "precompiled_charsmap": "*"}            | is no Base64
          "normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}         | precompiled_charsmap of 3 bytes
          "pre_tokenizer": {"type": "UnicodeScripts"}                                   | pre-tokenizer 'UnicodeScripts'
          "pre_tokenizer": {"type": "Punctuation", "behavior": "Removed"}               | 'Punctuation, Removed'
          "pre_tokenizer": {"type": "Metaspace", "replacement": "_"}                    | 'Metaspace with _'
          "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split"}]}   | pre-tokenizer 'Split'
          """)
  void aComponentThatIsNotSupportedIsNamed(String component, String said) throws IOException {
    Path folder = Files.createDirectories(directory.resolve("folder"));
    Files.writeString(folder.resolve("config.json"), "{}");
    Files.writeString(
        folder.resolve("tokenizer.json"),
        "{\"model\": {\"type\": \"Unigram\", \"unk_id\": 0, \"vocab\": [[\"a\", -1.5]]}, %s}"
            .formatted(component));
    assertThatThrownBy(
            () ->
                Tokenizer.of(
                    new Metadata(
                        folder.toString(),
                        TokenizerMetadata.of(folder, CheckpointConfig.read(folder), Family.LLAMA))))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining(said);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          0a                       | has no end
          0aff01                   | needs 255 bytes
          0b                       | the unknown kind 3
          0a020801                 | of another kind
          ``                       | has no pieces
          0a030a016112021803       | type 3, where unigram (1) and BPE (2)
          0a030a01611203c00101     | spaces at the ends of words
          0affffffffffffffffff7f   | needs
          """)
  void aDamagedSentencePieceModelIsRefused(String hex, String said) throws IOException {
    byte[] bytes = java.util.HexFormat.of().parseHex(hex);
    assertThatThrownBy(() -> SentencePieceModel.read(Path.of("tokenizer.model"), bytes))
        .isInstanceOf(ModelException.class)
        .hasMessageStartingWith("tokenizer.model")
        .hasMessageContaining(said);
  }

  @Test
  void aSentencePieceModelSaysWhichTokensAreSpecial() throws IOException {
    Map<String, Object> values = metadata("sentencepiece-unigram.model", "tokenizer.model");
    Tokenizer tokenizer = Tokenizer.of(new Metadata("model", values));
    assertThat(values).containsEntry("tokenizer.ggml.padding_token_id", 3);
    assertThat(tokenizer.bos()).hasValue(1);
    assertThat(tokenizer.eos()).hasValue(2);
    assertThat(tokenizer.type(0)).isEqualTo(TokenType.UNKNOWN);
    assertThat(tokenizer.type(2)).isEqualTo(TokenType.CONTROL);
    assertThat(tokenizer.decode(tokenizer.encode("The engine", false))).isEqualTo("The engine");
  }

  @Test
  void wordPieceTextComesBackInWords() throws IOException {
    Tokenizer tokenizer =
        Tokenizer.of(new Metadata("bert", metadata("wordpiece-uncased.json", "tokenizer.json")));
    assertThat(tokenizer.decode(tokenizer.encode("The Engine measures", true)))
        .isEqualTo("the engine measures");
  }
}

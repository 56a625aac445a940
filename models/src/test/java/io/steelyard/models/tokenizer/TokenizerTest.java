package io.steelyard.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.steelyard.models.ModelException;
import io.steelyard.models.gguf.Metadata;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenizerTest {
  private static final Tokenizer TINY = Cases.tiny();

  /** A SentencePiece vocabulary: three special tokens, the bytes, then pieces by falling score. */
  private static Map<String, Object> sentencePiece(String... pieces) {
    List<String> tokens =
        new ArrayList<>(List.of("<unk>", "<s>", "</s>", "<end_of_turn>", "<tool>"));
    List<Integer> types = new ArrayList<>(List.of(2, 3, 3, 1, 4));
    for (int value = 0; value < 256; value++) {
      tokens.add("<0x%02X>".formatted(value));
      types.add(6);
    }
    for (String piece : pieces) {
      tokens.add(piece);
      types.add(1);
    }
    float[] scores = new float[tokens.size()];
    for (int id = 0; id < scores.length; id++) {
      scores[id] = -id;
    }
    Map<String, Object> values = new HashMap<>();
    values.put("tokenizer.ggml.model", "llama");
    values.put("tokenizer.ggml.tokens", tokens);
    values.put("tokenizer.ggml.token_type", types.stream().mapToInt(i -> i).toArray());
    values.put("tokenizer.ggml.scores", scores);
    return values;
  }

  private static Tokenizer of(Map<String, Object> values) {
    return Tokenizer.of(new Metadata("test", values));
  }

  private static List<String> pieces(Tokenizer tokenizer, String text, boolean special) {
    List<String> pieces = new ArrayList<>();
    for (int id : tokenizer.encode(text, special)) {
      pieces.add(tokenizer.piece(id));
    }
    return pieces;
  }

  @Test
  void byteLevelTextComesBackAsItWas() {
    for (int seed = 0; seed < 3_000; seed++) {
      Random random = new Random(seed);
      String text = Cases.randomText(random, random.nextInt(60));
      assertThat(TINY.decode(TINY.encode(text, random.nextBoolean())))
          .as("seed %d", seed)
          .isEqualTo(text);
    }
  }

  @Test
  void sentencePieceTextComesBackAsItWas() {
    Tokenizer tokenizer = of(sentencePiece("▁", "a", "b", "ab", "▁a", "▁ab", "é"));
    for (int seed = 0; seed < 3_000; seed++) {
      Random random = new Random(seed);
      String text = Cases.randomText(random, random.nextInt(60)).replace('▁', 'x');
      assertThat(tokenizer.decode(tokenizer.encode(text, false)))
          .as("seed %d", seed)
          .isEqualTo(text);
    }
  }

  @Test
  void loneSurrogatesAreReplaced() {
    assertThat(TINY.decode(TINY.encode("a\uD800b\uDC00\uD83D", false))).isEqualTo("a�b��");
    assertThat(TINY.decode(TINY.encode("\uD83D\uDE42\uDE42", false))).isEqualTo("\uD83D\uDE42�");
    assertThat(TINY.decode(TINY.encode("a\0b", false))).isEqualTo("a\0b");
  }

  @Test
  void streamedTextIsTheWholeTextAndNeverPartOfACharacter() {
    for (int seed = 0; seed < 2_000; seed++) {
      Random random = new Random(seed);
      int[] ids =
          random.nextBoolean()
              ? TINY.encode(Cases.randomText(random, random.nextInt(40)), false)
              : random.ints(random.nextInt(40), 0, TINY.vocabularySize()).toArray();
      StreamDecoder stream = TINY.stream(true);
      StringBuilder text = new StringBuilder();
      for (int id : ids) {
        text.append(stream.push(id));
      }
      text.append(stream.flush());
      assertThat(text.toString())
          .as("seed %d", seed)
          .isEqualTo(TINY.decode(ids))
          .isEqualTo(whole(ids));
    }
  }

  private static String whole(int[] ids) {
    java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
    for (int id : ids) {
      bytes.writeBytes(TINY.bytes(id));
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void aStreamHoldsBackWhatCanStillBecomeACharacter() {
    StreamDecoder stream = TINY.stream(false);
    byte[] smile = "🙂".getBytes(StandardCharsets.UTF_8);
    assertThat(stream.push(new byte[] {'a', smile[0]})).isEqualTo("a");
    assertThat(stream.push(new byte[] {smile[1], smile[2]})).isEmpty();
    assertThat(stream.push(new byte[] {smile[3], 'b'})).isEqualTo("🙂b");
    assertThat(stream.push(new byte[] {smile[0]})).isEmpty();
    assertThat(stream.push(new byte[] {'c'})).isEqualTo("�c");
    assertThat(stream.push(new byte[] {smile[0], smile[1]})).isEmpty();
    assertThat(stream.flush()).isEqualTo("�");
    assertThat(stream.flush()).isEmpty();
  }

  @Test
  void aStreamHidesControlTokensOnDemand() {
    int end = TINY.eos().orElseThrow();
    assertThat(TINY.stream(false).push(end)).isEmpty();
    assertThat(TINY.stream(true).push(end)).isEqualTo(TINY.piece(end));
  }

  @Test
  void controlTokensAreTextUnlessAskedFor() {
    String control = TINY.piece(TINY.eos().orElseThrow());
    assertThat(TINY.encode("a" + control + "b", true)).contains(TINY.eos().getAsInt()).hasSize(3);
    assertThat(TINY.encode("a" + control + "b", false)).doesNotContain(TINY.eos().getAsInt());
  }

  @Test
  void longerSpecialTokensAreCutOutFirst() {
    Map<String, Object> values = Cases.tinyValues();
    List<String> tokens = new ArrayList<>();
    for (Object token : (List<?>) values.get("tokenizer.ggml.tokens")) {
      tokens.add((String) token);
    }
    int first = tokens.size() - 4;
    tokens.set(first, "xyx");
    tokens.set(first + 1, "yxyz");
    tokens.set(first + 2, "zzz");
    tokens.set(first + 3, "zz");
    values.put("tokenizer.ggml.tokens", tokens);
    int[] types = (int[]) values.get("tokenizer.ggml.token_type");
    for (int id = first; id < tokens.size(); id++) {
      types[id] = 4; // user-defined
    }
    Tokenizer tokenizer = of(values);
    assertThat(pieces(tokenizer, "xyxyzzzzzz", false)).containsExactly("x", "yxyz", "zzz", "zz");
    assertThat(pieces(tokenizer, "xyxyxy", true)).containsExactly("xyx", "y", "x", "y");
  }

  @Test
  void sentencePieceBeginsTextsAndWhatFollowsSpecialTokensWithASpace() {
    Tokenizer tokenizer = of(sentencePiece("▁", "a", "b", "▁a", "▁b", "ab"));
    assertThat(pieces(tokenizer, "ab", false)).containsExactly("▁a", "b");
    assertThat(pieces(tokenizer, "<s>a b</s><s> a", true))
        .containsExactly("<s>", "▁a", "▁b", "</s>", "<s>", "▁", "▁a");
    assertThat(pieces(tokenizer, "a<tool>b", false)).containsExactly("▁a", "<tool>", "▁b");
    assertThat(tokenizer.decode(tokenizer.encode(" a", false))).isEqualTo(" a");
    assertThat(tokenizer.encode("", false)).isEmpty();
    Map<String, Object> without = sentencePiece("▁", "a", "b", "▁a");
    without.put("tokenizer.ggml.add_space_prefix", false);
    assertThat(pieces(of(without), "a a", false)).containsExactly("a", "▁a");
  }

  @Test
  void sentencePieceSpellsWhatItLacksInBytes() {
    Tokenizer tokenizer = of(sentencePiece("▁", "a"));
    assertThat(pieces(tokenizer, "aé", false)).containsExactly("▁", "a", "<0xC3>", "<0xA9>");
  }

  @Test
  void decodesAPieceWithoutText() {
    Map<String, Object> values = sentencePiece("▁", "");
    int id = ((List<?>) values.get("tokenizer.ggml.tokens")).indexOf("");
    assertThat(of(values).decode(new int[] {id})).isEmpty();
  }

  @Test
  void phi3SwallowsSpaceAfterItsSpecialTokens() {
    Map<String, Object> values = sentencePiece("▁", "a");
    values.put("general.name", "Phi-3-mini");
    assertThat(pieces(of(values), "</s> \n a<s> a", true))
        .containsExactly("</s>", "▁", "a", "<s>", "▁", "▁", "a");
  }

  @Test
  void knowsWhatEndsGeneration() {
    Tokenizer tokenizer = of(sentencePiece("a"));
    assertThat(tokenizer.endOfGeneration()).containsExactlyInAnyOrder(2, 3);
    assertThat(tokenizer.type(3)).isEqualTo(TokenType.CONTROL);
    assertThat(tokenizer.bos()).hasValue(1);
    assertThat(tokenizer.addBos()).isTrue();
    assertThat(TINY.addBos()).isFalse();
  }

  @Test
  void mergesAsASlowTokenizerWould() {
    for (int seed = 0; seed < 400; seed++) {
      Random random = new Random(seed);
      List<String> pieces = new ArrayList<>(List.of("▁", "a", "b", "c"));
      for (int i = 0; i < 40; i++) {
        String piece =
            pieces.get(random.nextInt(pieces.size())) + pieces.get(random.nextInt(pieces.size()));
        if (piece.length() < 12 && !pieces.contains(piece)) {
          pieces.add(piece);
        }
      }
      Map<String, Object> values = sentencePiece(pieces.toArray(new String[0]));
      float[] scores = (float[]) values.get("tokenizer.ggml.scores");
      for (int id = 0; id < scores.length; id++) {
        scores[id] = random.nextInt(9) - 4;
      }
      Tokenizer tokenizer = of(values);
      StringBuilder text = new StringBuilder();
      for (int i = random.nextInt(60); i >= 0; i--) {
        text.append("abc ".charAt(random.nextInt(4)));
      }
      assertThat(pieces(tokenizer, text.toString(), false))
          .as("seed %d", seed)
          .isEqualTo(slow(tokenizer, scores, "▁" + text.toString().replace(' ', '▁')));
    }
  }

  private static List<String> slow(Tokenizer tokenizer, float[] scores, String text) {
    List<String> symbols = new ArrayList<>(List.of(text.split("")));
    while (true) {
      int best = -1;
      float bestScore = Float.NEGATIVE_INFINITY;
      for (int i = 0; i + 1 < symbols.size(); i++) {
        var id = tokenizer.id(symbols.get(i) + symbols.get(i + 1));
        if (id.isPresent() && scores[id.getAsInt()] > bestScore) {
          best = i;
          bestScore = scores[id.getAsInt()];
        }
      }
      if (best < 0) {
        return symbols;
      }
      symbols.set(best, symbols.get(best) + symbols.remove(best + 1));
    }
  }

  @ParameterizedTest
  @Timeout(60) // a guard against quadratic work, not a measurement
  @ValueSource(
      strings = {"a", "re", " ", "\n", "1", "é", "<|", "'", "the quick ", "<|reserved_9|>"})
  void longTextsTakeTimeInProportion(String part) {
    String text = part.repeat(1_000_000 / part.length());
    assertThat(TINY.decode(TINY.encode(text, true))).isEqualTo(text);
    Tokenizer sentencePiece =
        of(sentencePiece("▁", "a", "aa", "aaaa", "aaaaaaaa", "▁▁", "▁a", "e▁"));
    assertThat(sentencePiece.decode(sentencePiece.encode(text, true))).isEqualTo(text);
  }

  @Test
  void refusesIdsOutsideTheVocabulary() {
    assertThatExceptionOfType(ModelException.class)
        .isThrownBy(() -> TINY.decode(new int[] {320}))
        .withMessage("token id 320 is outside the vocabulary of 320");
    assertThatExceptionOfType(ModelException.class).isThrownBy(() -> TINY.piece(-1));
  }

  private static void refuses(Map<String, Object> values, String... parts) {
    assertThatExceptionOfType(ModelException.class)
        .isThrownBy(() -> of(values))
        .satisfies(e -> assertThat(e.getMessage()).contains(parts));
  }

  @Test
  void saysWhatItDoesNotSupport() {
    refuses(Map.of(), "no tokenizer", "token ids");
    refuses(Map.of("tokenizer.ggml.model", "none"), "without its tokenizer");
    refuses(Map.of("tokenizer.ggml.model", "rwkv"), "\"rwkv\"", "gpt2", "llama", "t5", "bert");
    Map<String, Object> values = Cases.tinyValues();
    values.put("tokenizer.ggml.pre", "klingon");
    refuses(values, "\"klingon\"", "smollm", "qwen2", "llama-bpe", "gpt-2", "default");
  }

  @Test
  void refusesWhatContradictsItself() {
    Map<String, Object> values = Cases.tinyValues();
    values.put("tokenizer.ggml.merges", List.of("a b", "ab c"));
    refuses(values, "merges[0]", "\"ab\"");
    values.put("tokenizer.ggml.merges", List.of("ab"));
    refuses(values, "merges[0]", "a space between");
    values.remove("tokenizer.ggml.merges");
    refuses(values, "no tokenizer.ggml.merges");
    values = Cases.tinyValues();
    values.put("tokenizer.ggml.token_type", new int[] {1, 2});
    refuses(values, "token_type has 2 entries for 320");
    values.put("tokenizer.ggml.tokens", List.of("a", "b", "a"));
    refuses(values, "token_type has 2 entries for 3");
    values.remove("tokenizer.ggml.token_type");
    refuses(values, "[0] and [2] are both \"a\"");
    values.put("tokenizer.ggml.tokens", List.of());
    refuses(values, "has 0 entries");
    values.remove("tokenizer.ggml.tokens");
    refuses(values, "no vocabulary");
    values = sentencePiece("a");
    values.put("tokenizer.ggml.scores", new float[] {1});
    refuses(values, "scores has 1 entries for 262");
    values.remove("tokenizer.ggml.scores");
    refuses(values, "no tokenizer.ggml.scores");
    values = sentencePiece("a");
    ((float[]) values.get("tokenizer.ggml.scores"))[7] = Float.NaN;
    refuses(values, "scores[7] is not a number");
    values = sentencePiece("a".repeat(70_000));
    refuses(values, "70000 characters");
  }

  @Test
  void emptyTokensAreNeverMatched() {
    Map<String, Object> values = sentencePiece("▁", "", "a", "");
    Tokenizer tokenizer = of(values);
    assertThat(pieces(tokenizer, "aa", false)).containsExactly("▁", "a", "a");
    assertThat(tokenizer.bytes(262)).isEmpty();
  }

  @Test
  void specialIdsOutsideTheVocabularyCountAsNone() {
    Map<String, Object> values = Cases.tinyValues();
    values.put("tokenizer.ggml.bos_token_id", 5_000_000);
    values.put("tokenizer.ggml.eos_token_id", -1);
    Tokenizer tokenizer = of(values);
    assertThat(tokenizer.bos()).isEmpty();
    assertThat(tokenizer.eos()).isEmpty();
  }

  @Test
  @Timeout(120) // a guard against hanging, not a measurement
  void hostileMetadataFailsInOneWayAlone() {
    int built = 0;
    for (int seed = 0; seed < 1_500; seed++) {
      Random random = new Random(seed);
      Map<String, Object> values =
          random.nextBoolean() ? Cases.tinyValues() : sentencePiece("▁", "a", "b", "ab", "▁a");
      for (int n = random.nextInt(4); n >= 0; n--) {
        damage(values, random);
      }
      try {
        Tokenizer tokenizer = of(values);
        String text = Cases.randomText(random, 40) + "<s></s>ab";
        tokenizer.decode(tokenizer.encode(text, random.nextBoolean()));
        built++;
      } catch (ModelException refused) {
        assertThat(refused).hasMessageMatching("(?s).{10,}");
      }
    }
    assertThat(built).isBetween(100, 1_400);
  }

  private static void damage(Map<String, Object> values, Random random) {
    List<String> keys = values.keySet().stream().sorted().toList();
    String key = keys.get(random.nextInt(keys.size()));
    Object value = values.get(key);
    int at = random.nextInt(1 << 20);
    switch (random.nextInt(4)) {
      case 0 -> values.remove(key);
      case 1 -> values.put(key, random.nextBoolean() ? "rubbish" : (Object) random.nextInt());
      default -> {
        switch (value) {
          case List<?> list when !list.isEmpty() -> {
            List<String> copy = new ArrayList<>();
            list.forEach(each -> copy.add((String) each));
            String other = copy.get(random.nextInt(copy.size()));
            copy.set(
                at % copy.size(),
                switch (random.nextInt(5)) {
                  case 0 -> "";
                  case 1 -> other;
                  case 2 -> Cases.randomText(random, 1 + random.nextInt(8));
                  case 3 -> "x".repeat(random.nextInt(2_000));
                  default -> " ";
                });
            values.put(key, random.nextInt(4) == 0 ? copy.subList(0, at % copy.size()) : copy);
          }
          case int[] ints when ints.length > 0 -> {
            int[] copy = ints.clone();
            copy[at % copy.length] = random.nextInt();
            values.put(key, random.nextInt(4) == 0 ? new int[at % copy.length] : copy);
          }
          case float[] floats when floats.length > 0 -> {
            float[] copy = floats.clone();
            copy[at % copy.length] = Float.intBitsToFloat(random.nextInt());
            values.put(key, random.nextInt(4) == 0 ? new float[at % copy.length] : copy);
          }
          default -> values.put(key, Cases.randomText(random, 5));
        }
      }
    }
  }
}

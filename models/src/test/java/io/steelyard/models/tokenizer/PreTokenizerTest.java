package io.steelyard.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class PreTokenizerTest {
  /** {@code \s} as the published patterns mean it, which is not as Java does. */
  private static final String S =
      "\\t-\\r\\x20\\x85\\xA0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000";

  private static final String GPT2 =
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
  private static final String LLAMA3 =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
          + " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

  private static List<String> words(PreTokenizer preTokenizer, String text) {
    List<String> words = new ArrayList<>();
    preTokenizer.split(text, 0, text.length(), (from, to) -> words.add(text.substring(from, to)));
    return words;
  }

  private static Pattern compiled(String published) {
    return Pattern.compile(
        published
            .replace("[^\\s", "[^" + S)
            .replace("\\S", "[^" + S + "]")
            .replace("\\s", "[" + S + "]"));
  }

  /** The text cut at every match of a pattern; what lies between matches is a word too. */
  private static List<String> matches(Pattern pattern, List<String> texts) {
    List<String> words = new ArrayList<>();
    for (String text : texts) {
      Matcher matcher = pattern.matcher(text);
      int at = 0;
      while (matcher.find()) {
        if (matcher.start() > at) {
          words.add(text.substring(at, matcher.start()));
        }
        words.add(matcher.group());
        at = matcher.end();
      }
      if (at < text.length()) {
        words.add(text.substring(at));
      }
    }
    return words;
  }

  private static void agrees(PreTokenizer preTokenizer, String... published) {
    List<Pattern> patterns = Stream.of(published).map(PreTokenizerTest::compiled).toList();
    for (int seed = 0; seed < 5_000; seed++) {
      Random random = new Random(seed);
      String text = Cases.randomText(random, random.nextInt(30));
      List<String> expected = text.isEmpty() ? List.of() : List.of(text);
      for (Pattern pattern : patterns) {
        expected = matches(pattern, expected);
      }
      assertThat(words(preTokenizer, text)).as("seed %d", seed).isEqualTo(expected);
    }
  }

  @Test
  void gpt2IsItsPublishedPattern() {
    agrees(PreTokenizer.gpt2(), GPT2);
  }

  @Test
  void smollmIsItsPublishedPatterns() {
    agrees(PreTokenizer.smollm(), "\\p{N}", GPT2);
  }

  @Test
  void llama3IsItsPublishedPattern() {
    agrees(PreTokenizer.llama3(), LLAMA3);
  }

  @Test
  void qwen2IsItsPublishedPattern() {
    agrees(PreTokenizer.qwen2(), LLAMA3.replace("{1,3}", ""));
  }

  @Test
  void theUnnamedOneIsItsPublishedPatterns() {
    agrees(PreTokenizer.unnamed(), "[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]");
  }

  @Test
  void contractionsStandAlone() {
    assertThat(words(PreTokenizer.gpt2(), "I'll they've WE'RE don't 'tis"))
        .containsExactly("I", "'ll", " they", "'ve", " WE", "'", "RE", " don", "'t", " '", "tis");
    assertThat(words(PreTokenizer.llama3(), "I'll WE'RE I'M'"))
        .containsExactly("I", "'ll", " WE", "'RE", " I", "'M", "'");
  }

  @Test
  void digitsGroupAsEachModelGroupsThem() {
    assertThat(words(PreTokenizer.gpt2(), "in 12345x")).containsExactly("in", " 12345", "x");
    assertThat(words(PreTokenizer.llama3(), "in 12345x"))
        .containsExactly("in", " ", "123", "45", "x");
    assertThat(words(PreTokenizer.qwen2(), "in 12x")).containsExactly("in", " ", "1", "2", "x");
    assertThat(words(PreTokenizer.smollm(), "in 12x")).containsExactly("in", " ", "1", "2", "x");
    assertThat(words(PreTokenizer.unnamed(), "in 12345x"))
        .containsExactly("in", " ", "123", "45", "x");
    assertThat(words(PreTokenizer.llama3(), "٣²Ⅷ¾")).containsExactly("٣²Ⅷ", "¾");
  }

  @Test
  void lettersAreLettersOfEveryScript() {
    assertThat(words(PreTokenizer.gpt2(), "naïve Straße 漢字かな 𝒜𝒷 हिन्दी"))
        .containsExactly("naïve", " Straße", " 漢字かな", " 𝒜𝒷", " ह", "ि", "न", "्", "द", "ी");
  }

  @Test
  void theLastSpaceOfARunGoesWithTheWord() {
    assertThat(words(PreTokenizer.gpt2(), "a   b \n c  "))
        .containsExactly("a", "  ", " b", " \n", " c", "  ");
    assertThat(words(PreTokenizer.llama3(), "a   b \n\n c  \n  "))
        .containsExactly("a", "  ", " b", " \n\n", " c", "  \n", "  ");
    assertThat(words(PreTokenizer.llama3(), "x;\n\ny\u00a0z\u3000\u3000w"))
        .containsExactly("x", ";\n\n", "y", "\u00a0z", "\u3000", "\u3000w");
  }

  /** How Hugging Face's tokenizers cut by the patterns that GGUF has names for. */
  @TestFactory
  Stream<DynamicTest> namedPatternsCutAsPublished() throws IOException {
    JsonNode cases;
    try (InputStream in = PreTokenizerTest.class.getResourceAsStream("pipelines/cases.json")) {
      cases = JsonMapper.shared().readTree(in);
    }
    return cases.get("words").propertyStream().map(each -> namedPattern(each, cases.get("texts")));
  }

  private static DynamicTest namedPattern(Map.Entry<String, JsonNode> golden, JsonNode texts) {
    return DynamicTest.dynamicTest(
        golden.getKey(),
        () -> {
          PreTokenizer pattern = Family.named(golden.getKey()).words();
          assertThat(golden.getValue()).hasSizeGreaterThan(80);
          for (int i = 0; i < texts.size(); i++) {
            List<String> expected = new ArrayList<>();
            golden.getValue().get(i).forEach(word -> expected.add(word.asString()));
            String text = texts.get(i).asString();
            assertThat(words(pattern, text)).as("'%s'", text).isEqualTo(expected);
          }
        });
  }
}

package io.steelyard.models.tokenizer;

import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Patterns of vocabularies that are met too seldom to have a scanner, as regular expressions the
 * way their {@code tokenizer.json} has them. A stage cuts what the stages before it left: each
 * match is a word, and so is what lies between two.
 */
final class PublishedPatterns {
  /** {@code \s} of the published patterns is the property White_Space, Java's is ASCII. */
  private static final String SPACE =
      "\\t-\\r\\x20\\x85\\xA0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000";

  private static final String CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
  private static final String LEAD = "[^\\r\\n\\p{L}\\p{N}]?";
  private static final String LINES_AND_SPACES = "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  private static final String UPPER = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
  private static final String LOWER = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";
  private static final String GPT2 =
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
  private static final String BLOOM = " ?[^(\\s|.,!?…。，、।۔،)]+";
  private static final String EAST_ASIAN = "[一-龥ࠀ-一가-\uD7FF]+";

  private PublishedPatterns() {}

  /** GPT-4o and its descendants: a word begins where upper case begins. */
  static PreTokenizer gpt4o() {
    return of(cased(CONTRACTIONS + "?", "{1,3}"));
  }

  /** Mistral's Tekken: GPT-4o's without contractions, digits one by one. */
  static PreTokenizer tekken() {
    return of(cased("", ""));
  }

  private static String cased(String contractions, String digits) {
    return LEAD
        + UPPER
        + "*"
        + LOWER
        + "+"
        + contractions
        + "|"
        + LEAD
        + UPPER
        + "+"
        + LOWER
        + "*"
        + contractions
        + "|\\p{N}"
        + digits
        + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*"
        + LINES_AND_SPACES;
  }

  static PreTokenizer deepseekCoder() {
    return of("[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", EAST_ASIAN, "\\p{N}");
  }

  static PreTokenizer deepseekV3() {
    return of(
        "\\p{N}{1,3}",
        "[一-龥\\u3040-ゟ゠-ヿ]+",
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
            + "|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*"
            + LINES_AND_SPACES);
  }

  static PreTokenizer falcon() {
    return of("[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2, "[0-9][0-9][0-9]");
  }

  /** Qwen 3.5: Qwen 2's with marks counted as parts of words. */
  static PreTokenizer qwen35() {
    return of(
        CONTRACTIONS
            + "|"
            + LEAD
            + "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*"
            + LINES_AND_SPACES);
  }

  static PreTokenizer seedCoder() {
    return of(
        CONTRACTIONS
            + "|"
            + LEAD
            + "\\p{L}+|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+"
            + LINES_AND_SPACES);
  }

  static PreTokenizer bailing() {
    return of(
        "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*"
            + "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+");
  }

  static PreTokenizer bloom() {
    return of(BLOOM);
  }

  /** Bloom's, digits one by one. */
  static PreTokenizer viking() {
    return of(BLOOM, "\\p{N}");
  }

  private static PreTokenizer of(String... stages) {
    return Arrays.stream(stages)
        .map(PublishedPatterns::compiled)
        .map(PublishedPatterns::isolating)
        .reduce(PreTokenizer::then)
        .orElseThrow();
  }

  private static Pattern compiled(String published) {
    return Pattern.compile(
        published
            .replace("[^(\\s", "[^(" + SPACE)
            .replace("[^\\s", "[^" + SPACE)
            .replace("\\S", "[^" + SPACE + "]")
            .replace("\\s", "[" + SPACE + "]"));
  }

  private static PreTokenizer isolating(Pattern pattern) {
    return (text, from, to, words) -> {
      Matcher matcher = pattern.matcher(text).region(from, to);
      int at = from;
      while (matcher.find()) {
        if (matcher.start() > at) {
          words.word(at, matcher.start());
        }
        words.word(matcher.start(), matcher.end());
        at = matcher.end();
      }
      if (at < to) {
        words.word(at, to);
      }
    };
  }
}

package io.steelyard.models.tokenizer;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Cuts text into words by {@link PublishedPatterns}. A stage cuts what the stages before it left:
 * each match is a word, and so is what lies between two.
 */
final class RegexPreTokenizer {
  /** {@code \s} of the published patterns is the property White_Space, Java's is ASCII. */
  private static final String SPACE =
      "\\t-\\r\\x20\\x85\\xA0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000";

  private RegexPreTokenizer() {}

  static PreTokenizer of(String stage) {
    return isolating(compiled(stage));
  }

  static PreTokenizer of(List<String> stages) {
    return stages.stream().map(RegexPreTokenizer::of).reduce(PreTokenizer::then).orElseThrow();
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

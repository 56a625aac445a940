package io.steelyard.models.tokenizer;

import io.steelyard.models.ModelException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Cuts normalised text into words, which need not hold all of it: most leave white space out. Steps
 * are named as they stand in metadata, their arguments after tabulators; {@link #of} lists them.
 */
@FunctionalInterface
interface WordSplitter {
  /**
   * The words of a word.
   *
   * @param begins whether it stands at the beginning of the text
   */
  List<String> split(String word, boolean begins);

  /** Text is one word. */
  WordSplitter NONE = (word, begins) -> List.of(word);

  default WordSplitter then(WordSplitter finer) {
    return (word, begins) -> {
      List<String> words = new ArrayList<>();
      boolean first = begins;
      for (String part : split(word, begins)) {
        words.addAll(finer.split(part, first));
        first = false;
      }
      return words;
    };
  }

  /**
   * Some steps, each inside the words of the one before.
   *
   * @throws ModelException if there is no such step
   */
  static WordSplitter of(List<String> steps) {
    return steps.stream().map(step -> step(step.split("\t", -1))).reduce(NONE, WordSplitter::then);
  }

  private static WordSplitter step(String[] step) {
    return switch (step[0]) {
      case "bert" -> bert();
      case "whitespace" -> words();
      case "whitespace-split" -> (word, begins) -> cut(word, WordSplitter::isSpace, Cut.OUT);
      case "punctuation" -> (word, begins) -> cut(word, WordSplitter::isPunctuation, Cut.ALONE);
      case "punctuation-runs" ->
          (word, begins) -> cut(word, WordSplitter::isPunctuation, Cut.TOGETHER);
      case "digits" -> (word, begins) -> cut(word, WordSplitter::isNumber, Cut.ALONE);
      case "numbers" -> (word, begins) -> cut(word, WordSplitter::isNumber, Cut.TOGETHER);
      case "metaspace" ->
          metaspace(step.length > 1 ? step[1] : "", step.length > 2 && step[2].equals("split"));
      default ->
          throw new ModelException(
              "the tokenizer's pre-tokenizer has the step \"%s\", which isn't supported"
                  .formatted(Vocabulary.shortened(step[0])));
    };
  }

  /** BERT's: white space goes, punctuation stands alone. */
  static WordSplitter bert() {
    return of(List.of("whitespace-split", "punctuation"));
  }

  /** {@code \w+|[^\w\s]+}. */
  private static WordSplitter words() {
    Pattern pattern =
        Pattern.compile("\\w+|[^\\w\\p{IsWhite_Space}]+", Pattern.UNICODE_CHARACTER_CLASS);
    return (word, begins) -> {
      List<String> words = new ArrayList<>();
      Matcher matcher = pattern.matcher(word);
      while (matcher.find()) {
        words.add(matcher.group());
      }
      return words;
    };
  }

  /**
   * Spaces as {@link SentencePieceEncoder#SPACE}, each the beginning of a word.
   *
   * @param prepend {@code always} for one more before each word that has none, {@code first} before
   *     the text alone
   */
  private static WordSplitter metaspace(String prepend, boolean split) {
    String space = String.valueOf(SentencePieceEncoder.SPACE);
    return (word, begins) -> {
      String all = word.replace(" ", space);
      boolean wanted = prepend.equals("always") || (prepend.equals("first") && begins);
      if (wanted && !all.startsWith(space)) {
        all = space + all;
      }
      if (!split) {
        return List.of(all);
      }
      List<String> words = new ArrayList<>();
      int from = 0;
      for (int i = 1; i < all.length(); i++) {
        if (all.charAt(i) == SentencePieceEncoder.SPACE) {
          words.add(all.substring(from, i));
          from = i;
        }
      }
      words.add(all.substring(from));
      return words;
    };
  }

  /** What becomes of the characters at which a word is cut. */
  enum Cut {
    OUT,
    ALONE,
    TOGETHER
  }

  private static List<String> cut(String word, IntPredicate at, Cut how) {
    List<String> words = new ArrayList<>();
    int from = 0;
    boolean separator = false;
    for (int i = 0; i < word.length(); ) {
      int c = word.codePointAt(i);
      boolean now = at.test(c);
      if (i > from && (now != separator || (now && how == Cut.ALONE))) {
        add(word, from, i, separator, how, words);
        from = i;
      }
      separator = now;
      i += Character.charCount(c);
    }
    add(word, from, word.length(), separator, how, words);
    return words;
  }

  private static void add(
      String word, int from, int to, boolean separator, Cut how, List<String> words) {
    if (to > from && !(separator && how == Cut.OUT)) {
      words.add(word.substring(from, to));
    }
  }

  private static boolean isSpace(int c) {
    return c < 0x10000 && Normalizer.isSpace((char) c);
  }

  private static boolean isNumber(int c) {
    return CharacterClass.at(Character.toString(c), 0) == CharacterClass.NUMBER;
  }

  /** Unicode's punctuation, and every printable ASCII character that is no letter or digit. */
  private static boolean isPunctuation(int c) {
    boolean ascii =
        (c >= '!' && c <= '/')
            || (c >= ':' && c <= '@')
            || (c >= '[' && c <= '`')
            || (c >= '{' && c <= '~');
    return ascii || CharacterClass.at(Character.toString(c), 0) == CharacterClass.PUNCTUATION;
  }
}

package io.steelyard.models.tokenizer;

import io.steelyard.models.ModelException;
import java.text.Normalizer.Form;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;

/**
 * What is done to text before it is cut into words. Steps are named as they stand in metadata,
 * their arguments after tabulators; {@link #of} lists them.
 */
@FunctionalInterface
interface Normalizer {
  String apply(String text);

  /** Nothing is done. */
  Normalizer NONE = text -> text;

  default Normalizer then(Normalizer next) {
    return text -> next.apply(apply(text));
  }

  /**
   * Some steps, one after the other.
   *
   * @param charsMap the table that two of the steps look up
   * @throws ModelException if there is no such step
   */
  static Normalizer of(List<String> steps, Optional<CharsMap> charsMap) {
    return steps.stream()
        .map(step -> step(step.split("\t", -1), charsMap))
        .reduce(NONE, Normalizer::then);
  }

  private static Normalizer step(String[] step, Optional<CharsMap> charsMap) {
    return switch (step[0]) {
      case "nfc" -> form(Form.NFC);
      case "nfd" -> form(Form.NFD);
      case "nfkc" -> form(Form.NFKC);
      case "nfkd" -> form(Form.NFKD);
      case "nmt" -> Normalizer::nmt;
      case "lowercase" -> Normalizer::lowercase;
      case "strip-accents" -> Normalizer::stripAccents;
      case "strip" -> text -> strip(text, argument(step, 1), argument(step, 2));
      case "bert" -> bert(argument(step, 1));
      case "charsmap" -> charsMap(step, charsMap)::longest;
      case "charsmap-graphemes" -> charsMap(step, charsMap)::byGraphemes;
      case "spaces" -> Spaces.of(argument(step, 1), argument(step, 2));
      case "trim-spaces" -> text -> text.replaceAll(" {2,}", " ").replaceAll("^ | $", "");
      case "single-spaces" ->
          text -> text.replaceAll(" {2,}", Matcher.quoteReplacement(argument(step, 1)));
      case "replace" -> text -> replace(text, argument(step, 1), argument(step, 2));
      case "prepend" -> text -> text.isEmpty() ? text : argument(step, 1) + text;
      default -> throw unknown(step);
    };
  }

  private static String argument(String[] step, int index) {
    return index < step.length ? step[index] : "";
  }

  private static ModelException unknown(String[] step) {
    return new ModelException(
        "the tokenizer's normalizer has the step \"%s\", which isn't supported"
            .formatted(Vocabulary.shortened(step[0])));
  }

  private static CharsMap charsMap(String[] step, Optional<CharsMap> charsMap) {
    return charsMap.orElseThrow(() -> unknown(step));
  }

  private static Normalizer form(Form form) {
    return text -> java.text.Normalizer.normalize(text, form);
  }

  private static String replace(String text, String from, String to) {
    return from.isEmpty() ? text : text.replace(from, to);
  }

  /** Character by character: no rule looks at neighbours. */
  private static String lowercase(String text) {
    StringBuilder lower = new StringBuilder(text.length());
    text.codePoints().forEach(c -> lower.append(Character.toString(c).toLowerCase(Locale.ROOT)));
    return lower.toString();
  }

  private static String stripAccents(String text) {
    StringBuilder bare = new StringBuilder(text.length());
    text.codePoints()
        .filter(c -> Character.getType(c) != Character.NON_SPACING_MARK)
        .forEach(bare::appendCodePoint);
    return bare.toString();
  }

  private static String strip(String text, String left, String right) {
    int from = 0;
    int to = text.length();
    while (left.equals("left") && from < to && isSpace(text.charAt(from))) {
      from++;
    }
    while (right.equals("right") && to > from && isSpace(text.charAt(to - 1))) {
      to--;
    }
    return text.substring(from, to);
  }

  static boolean isSpace(char c) {
    return !Character.isSurrogate(c)
        && CharacterClass.at(String.valueOf(c), 0) == CharacterClass.SPACE;
  }

  /** What SentencePiece's rules of the name nmt do before others. */
  private static String nmt(String text) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              boolean dropped =
                  (c >= 1 && c <= 8)
                      || c == 0x0B
                      || (c >= 0x0E && c <= 0x1F)
                      || c == 0x7F
                      || c == 0x8F
                      || c == 0x9F;
              boolean space =
                  c == 0x09
                      || c == 0x0A
                      || c == 0x0C
                      || c == 0x0D
                      || c == 0x1680
                      || (c >= 0x200B && c <= 0x200F)
                      || c == 0x2028
                      || c == 0x2029
                      || c == 0x2581
                      || c == 0xFEFF
                      || c == 0xFFFD;
              if (!dropped) {
                out.appendCodePoint(space ? ' ' : c);
              }
            });
    return out.toString();
  }

  /**
   * BERT's: control characters go, spaces become one kind, and on demand ideographs stand alone,
   * accents go, letters become small.
   *
   * @param options any of {@code clean}, {@code ideographs}, {@code accents}, {@code lower}
   */
  private static Normalizer bert(String options) {
    Normalizer all = NONE;
    for (String option : options.split(" ", -1)) {
      all =
          all.then(
              switch (option) {
                case "clean" -> Normalizer::clean;
                case "ideographs" -> Normalizer::aloneIdeographs;
                case "accents" -> form(Form.NFD).then(Normalizer::stripAccents);
                case "lower" -> Normalizer::lowercase;
                case "" -> NONE;
                default -> throw unknown(new String[] {"bert " + option});
              });
    }
    return all;
  }

  private static String clean(String text) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints()
        .filter(c -> c != 0 && c != 0xFFFD && !isControl(c))
        .forEach(c -> out.appendCodePoint(c < 0x10000 && isSpace((char) c) ? ' ' : c));
    return out.toString();
  }

  private static boolean isControl(int c) {
    if (c == '\t' || c == '\n' || c == '\r') {
      return false;
    }
    return switch (Character.getType(c)) {
      case Character.CONTROL, Character.FORMAT, Character.PRIVATE_USE -> true;
      default -> false;
    };
  }

  private static String aloneIdeographs(String text) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              if (isIdeograph(c)) {
                out.append(' ').appendCodePoint(c).append(' ');
              } else {
                out.appendCodePoint(c);
              }
            });
    return out.toString();
  }

  /** The blocks that BERT takes for Chinese. */
  private static boolean isIdeograph(int c) {
    return (c >= 0x4E00 && c <= 0x9FFF)
        || (c >= 0x3400 && c <= 0x4DBF)
        || (c >= 0x20000 && c <= 0x2A6DF)
        || (c >= 0x2A700 && c <= 0x2B73F)
        || (c >= 0x2B740 && c <= 0x2B81F)
        || (c >= 0x2B920 && c <= 0x2CEAF)
        || (c >= 0xF900 && c <= 0xFAFF)
        || (c >= 0x2F800 && c <= 0x2FA1F);
  }

  /** How SentencePiece treats spaces before pieces are looked for. */
  final class Spaces {
    private Spaces() {}

    /**
     * Spaces written as {@link SentencePieceEncoder#SPACE}.
     *
     * @param prefix {@code prefix} to begin with one
     * @param extra {@code single} to make several one, and to leave those at the ends out
     */
    static Normalizer of(String prefix, String extra) {
      boolean begins = prefix.equals("prefix");
      boolean single = extra.equals("single");
      return text -> apply(text, begins, single);
    }

    private static String apply(String text, boolean begins, boolean single) {
      StringBuilder out = new StringBuilder(text.length() + 1);
      boolean inWord = false;
      boolean begun = !begins;
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        if (c == ' ') {
          inWord = false;
          if (!single) {
            out.append(SentencePieceEncoder.SPACE);
          }
          continue;
        }
        if (!inWord) {
          inWord = true;
          if (!begun || single) {
            out.append(SentencePieceEncoder.SPACE);
            begun = true;
          }
        }
        out.append(c);
      }
      return out.toString();
    }
  }
}

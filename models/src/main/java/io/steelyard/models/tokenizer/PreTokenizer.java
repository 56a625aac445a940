package io.steelyard.models.tokenizer;

import static io.steelyard.models.tokenizer.CharacterClass.LETTER;
import static io.steelyard.models.tokenizer.CharacterClass.NUMBER;
import static io.steelyard.models.tokenizer.CharacterClass.PUNCTUATION;
import static io.steelyard.models.tokenizer.CharacterClass.SPACE;

/**
 * Cuts text into the words inside which byte-pair merges may happen. Each splitter is a published
 * regular expression written as a scanner: the pattern stands above it. Text is well-formed UTF-16
 * and every range begins and ends between code points.
 */
@FunctionalInterface
interface PreTokenizer {
  /** Receives the words in order; together they are the whole range. */
  @FunctionalInterface
  interface Words {
    void word(int from, int to);
  }

  void split(String text, int from, int to, Words words);

  /** Splits each word of this splitter again. */
  default PreTokenizer then(PreTokenizer finer) {
    return (text, from, to, words) ->
        split(text, from, to, (start, end) -> finer.split(text, start, end, words));
  }

  /** {@code 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+}. */
  static PreTokenizer gpt2() {
    return scanning(PreTokenizer::gpt2Word);
  }

  /** {@code \p{N}} alone each, then {@link #gpt2()}. */
  static PreTokenizer smollm() {
    return ((PreTokenizer) PreTokenizer::isolateNumbers).then(gpt2());
  }

  /**
   * {@code (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
   * ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+}; the contractions in ASCII alone.
   */
  static PreTokenizer llama3() {
    return scanning((text, from, to) -> llama3Word(text, from, to, 3));
  }

  /** As {@link #llama3()}, but {@code \p{N}}: each digit by itself. */
  static PreTokenizer qwen2() {
    return scanning((text, from, to) -> llama3Word(text, from, to, 1));
  }

  /**
   * For files that name no pattern: runs of {@code [\p{P}$+<=>^~|]}, then {@link #gpt2()}, then
   * {@code \p{N}+}, then {@code [0-9][0-9][0-9]}, each stage inside the words of the one before.
   */
  static PreTokenizer unnamed() {
    return scanning(PreTokenizer::symbolRun)
        .then(gpt2())
        .then(scanning(PreTokenizer::numberRun))
        .then(PreTokenizer::threes);
  }

  /** Finds where the word that begins at {@code from} ends. */
  @FunctionalInterface
  interface Scanner {
    int end(String text, int from, int to);
  }

  private static PreTokenizer scanning(Scanner scanner) {
    return (text, from, to, words) -> {
      for (int at = from; at < to; ) {
        int end = scanner.end(text, at, to);
        words.word(at, end);
        at = end;
      }
    };
  }

  private static int gpt2Word(String text, int from, int to) {
    char first = text.charAt(from);
    if (first == '\'') {
      int length = contraction(text, from, to, false);
      if (length > 0) {
        return from + length;
      }
    }
    int body = first == ' ' && from + 1 < to ? from + 1 : from;
    return switch (CharacterClass.at(text, body)) {
      case LETTER -> run(text, body, to, LETTER);
      case NUMBER -> run(text, body, to, NUMBER);
      case SPACE -> beforeLastSpace(from, run(text, from, to, SPACE), to);
      default -> symbols(text, body, to);
    };
  }

  private static int llama3Word(String text, int from, int to, int digits) {
    char first = text.charAt(from);
    if (first == '\'') {
      int length = contraction(text, from, to, true);
      if (length > 0) {
        return from + length;
      }
    }
    int kind = CharacterClass.at(text, from);
    if (kind == LETTER) {
      return run(text, from, to, LETTER);
    }
    int second = from + CharacterClass.width(first);
    if (kind == NUMBER) {
      int end = second;
      for (int n = 1; n < digits && end < to && CharacterClass.at(text, end) == NUMBER; n++) {
        end += CharacterClass.width(text.charAt(end));
      }
      return end;
    }
    int follower = second < to ? CharacterClass.at(text, second) : SPACE;
    if (follower == LETTER && !isLineEnd(first)) {
      return run(text, second, to, LETTER);
    }
    if (kind != SPACE || (first == ' ' && follower != SPACE && follower != NUMBER)) {
      int end = symbols(text, kind == SPACE ? second : from, to);
      while (end < to && isLineEnd(text.charAt(end))) {
        end++;
      }
      return end;
    }
    int end = run(text, from, to, SPACE);
    for (int i = end; i > from; i--) {
      if (isLineEnd(text.charAt(i - 1))) {
        return i;
      }
    }
    return beforeLastSpace(from, end, to);
  }

  /** {@code \s+(?!\S)|\s+}: the last space of a run goes with the word that follows it. */
  private static int beforeLastSpace(int from, int end, int to) {
    return end < to && end - from > 1 ? end - 1 : end;
  }

  private static boolean isLineEnd(char c) {
    return c == '\n' || c == '\r';
  }

  private static int run(String text, int from, int to, int kind) {
    int at = from;
    while (at < to && CharacterClass.at(text, at) == kind) {
      at += CharacterClass.width(text.charAt(at));
    }
    return at;
  }

  private static int symbols(String text, int from, int to) {
    int at = from;
    while (at < to) {
      int kind = CharacterClass.at(text, at);
      if (kind == LETTER || kind == NUMBER || kind == SPACE) {
        break;
      }
      at += CharacterClass.width(text.charAt(at));
    }
    return at;
  }

  /** The length of the contraction at an apostrophe, 0 if there is none. */
  private static int contraction(String text, int at, int to, boolean anyCase) {
    int lower = anyCase ? 0x20 : 0;
    int one = at + 1 < to ? text.charAt(at + 1) | lower : 0;
    if (one == 's' || one == 't' || one == 'm' || one == 'd') {
      return 2;
    }
    int two = at + 2 < to ? text.charAt(at + 2) | lower : 0;
    boolean known =
        (one == 'r' && two == 'e') || (one == 'v' && two == 'e') || (one == 'l' && two == 'l');
    return known ? 3 : 0;
  }

  private static void isolateNumbers(String text, int from, int to, Words words) {
    int pending = from;
    for (int at = from; at < to; ) {
      int end = at + CharacterClass.width(text.charAt(at));
      if (CharacterClass.at(text, at) == NUMBER) {
        if (at > pending) {
          words.word(pending, at);
        }
        words.word(at, end);
        pending = end;
      }
      at = end;
    }
    if (to > pending) {
      words.word(pending, to);
    }
  }

  private static int symbolRun(String text, int from, int to) {
    boolean symbol = isSymbol(text, from);
    int at = from;
    while (at < to && isSymbol(text, at) == symbol) {
      at += CharacterClass.width(text.charAt(at));
    }
    return at;
  }

  private static boolean isSymbol(String text, int at) {
    return CharacterClass.at(text, at) == PUNCTUATION || "$+<=>^~|".indexOf(text.charAt(at)) >= 0;
  }

  private static int numberRun(String text, int from, int to) {
    boolean number = CharacterClass.at(text, from) == NUMBER;
    int at = from;
    while (at < to && (CharacterClass.at(text, at) == NUMBER) == number) {
      at += CharacterClass.width(text.charAt(at));
    }
    return at;
  }

  private static void threes(String text, int from, int to, Words words) {
    int pending = from;
    int digits = 0;
    for (int at = from; at < to; at++) {
      char c = text.charAt(at);
      digits = c >= '0' && c <= '9' ? digits + 1 : 0;
      if (digits == 3) {
        if (at - 2 > pending) {
          words.word(pending, at - 2);
        }
        words.word(at - 2, at + 1);
        pending = at + 1;
        digits = 0;
      }
    }
    if (to > pending) {
      words.word(pending, to);
    }
  }
}

package io.steelyard.models.tokenizer;

import io.steelyard.models.ModelException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Cuts text at the tokens that are matched as a whole: user-defined ones always, control and
 * unknown ones on demand. Longer tokens are cut out before shorter ones, wherever they stand.
 */
final class SpecialTokens {
  private static final int LONGEST = 1024;

  /** A stretch of text ({@code token < 0}), or the special token that stands there. */
  record Fragment(int from, int to, int token) {
    boolean isText() {
      return token < 0;
    }
  }

  private final Vocabulary vocabulary;
  private final BitSet eatsSpace;

  /** The special tokens by spelling, so that those with a common prefix are neighbours. */
  private final int[] sorted;

  private final String[] spellings;
  private final BitSet firstCharacters = new BitSet();

  /** Positions in {@link #sorted}, longest token first. */
  private final int[] longestFirst;

  /**
   * @param eatsSpace the ids of the tokens that swallow the white space after them
   */
  SpecialTokens(Vocabulary vocabulary, BitSet eatsSpace) {
    this.vocabulary = vocabulary;
    this.eatsSpace = eatsSpace;
    sorted =
        IntStream.range(0, vocabulary.size())
            .filter(id -> isSpecial(vocabulary.type(id)) && !vocabulary.piece(id).isEmpty())
            .boxed()
            .sorted(Comparator.comparing(vocabulary::piece))
            .mapToInt(Integer::intValue)
            .toArray();
    spellings = new String[sorted.length];
    for (int i = 0; i < sorted.length; i++) {
      spellings[i] = vocabulary.piece(sorted[i]);
      if (spellings[i].length() > LONGEST) {
        throw new ModelException(
            "tokenizer.ggml.tokens[%d] is a special token of %d characters; at most %d make sense"
                .formatted(sorted[i], spellings[i].length(), LONGEST));
      }
      firstCharacters.set(spellings[i].charAt(0));
    }
    longestFirst =
        IntStream.range(0, sorted.length)
            .boxed()
            .sorted(
                Comparator.comparingInt((Integer i) -> -vocabulary.bytes(sorted[i]).length)
                    .thenComparingInt(i -> sorted[i]))
            .mapToInt(Integer::intValue)
            .toArray();
  }

  private static boolean isSpecial(TokenType type) {
    return type == TokenType.CONTROL || type == TokenType.USER_DEFINED || type == TokenType.UNKNOWN;
  }

  /**
   * The text in order, cut at its special tokens.
   *
   * @param all whether control and unknown tokens count too
   */
  List<Fragment> cut(String text, boolean all) {
    List<Fragment> fragments = List.of(new Fragment(0, text.length(), -1));
    BitSet present = present(text);
    if (!present.isEmpty()) {
      for (int i : longestFirst) {
        if (present.get(i) && (all || vocabulary.type(sorted[i]) == TokenType.USER_DEFINED)) {
          fragments = cut(text, fragments, i);
        }
      }
    }
    return fragments;
  }

  private List<Fragment> cut(String text, List<Fragment> fragments, int special) {
    String spelling = spellings[special];
    int id = sorted[special];
    List<Fragment> finer = new ArrayList<>(fragments.size() + 2);
    for (Fragment fragment : fragments) {
      if (!fragment.isText()) {
        finer.add(fragment);
        continue;
      }
      int at = fragment.from;
      for (int match; (match = text.indexOf(spelling, at, fragment.to)) >= 0; ) {
        if (match > at) {
          finer.add(new Fragment(at, match, -1));
        }
        at = match + spelling.length();
        finer.add(new Fragment(match, at, id));
        while (eatsSpace.get(id) && at < fragment.to && isSpace(text.charAt(at))) {
          at++;
        }
      }
      if (at < fragment.to) {
        finer.add(new Fragment(at, fragment.to, -1));
      }
    }
    return finer;
  }

  private static boolean isSpace(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
  }

  /** Which special tokens the text contains at all, as positions in {@link #sorted}. */
  private BitSet present(String text) {
    BitSet present = new BitSet();
    if (sorted.length == 0) {
      return present;
    }
    for (int at = 0; at < text.length(); at++) {
      if (firstCharacters.get(text.charAt(at))) {
        markAt(text, at, present);
      }
    }
    return present;
  }

  private void markAt(String text, int at, BitSet present) {
    int low = 0;
    int high = sorted.length;
    for (int depth = 0; low < high; depth++) {
      if (spellings[low].length() == depth) {
        present.set(low++);
      }
      if (at + depth == text.length()) {
        return;
      }
      char c = text.charAt(at + depth);
      low = firstNotBelow(c, depth, low, high);
      high = firstNotBelow(c + 1, depth, low, high);
    }
  }

  private int firstNotBelow(int c, int depth, int from, int to) {
    int low = from;
    int high = to;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (spellings[middle].charAt(depth) < c) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}

package io.steelyard.models.tokenizer;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * SentencePiece's unigram model: of all ways to cut a word into pieces, that with the highest sum
 * of scores (log-probabilities), found by Viterbi's algorithm (Kudo 2018, arXiv:1804.10959). A
 * character that no piece begins with scores less than any piece; a run of such becomes one unknown
 * token, or the bytes it has.
 */
final class UnigramEncoder implements PipelineEncoder.WordEncoder {
  private static final double UNKNOWN_PENALTY = 10;

  /** The pieces by spelling, so that those with a common prefix are neighbours. */
  private final String[] pieces;

  private final int[] ids;
  private final double[] scores;
  private final double unknownScore;
  private final int unknown;
  private final int[] byteTokens = new int[256];
  private final boolean hasBytes;

  /**
   * @param unknown the token for what has none, -1 to leave it out
   */
  UnigramEncoder(Vocabulary vocabulary, float[] scores, int unknown) {
    this.unknown = unknown;
    ids =
        IntStream.range(0, vocabulary.size())
            .filter(id -> matches(vocabulary, id))
            .boxed()
            .sorted(Comparator.comparing(vocabulary::piece))
            .mapToInt(Integer::intValue)
            .toArray();
    pieces = new String[ids.length];
    this.scores = new double[ids.length];
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < ids.length; i++) {
      pieces[i] = vocabulary.piece(ids[i]);
      this.scores[i] = vocabulary.type(ids[i]) == TokenType.USER_DEFINED ? 0 : scores[ids[i]];
      if (vocabulary.type(ids[i]) == TokenType.NORMAL) {
        least = Math.min(least, this.scores[i]);
      }
    }
    unknownScore = (Double.isInfinite(least) ? 0 : least) - UNKNOWN_PENALTY;
    for (int value = 0; value < 256; value++) {
      int id = vocabulary.idOf(String.format(Locale.ROOT, "<0x%02X>", value));
      byteTokens[value] = id >= 0 && vocabulary.type(id) == TokenType.BYTE ? id : -1;
    }
    hasBytes = Arrays.stream(byteTokens).allMatch(id -> id >= 0);
  }

  private static boolean matches(Vocabulary vocabulary, int id) {
    return !vocabulary.piece(id).isEmpty()
        && switch (vocabulary.type(id)) {
          case NORMAL, UNDEFINED, USER_DEFINED, UNUSED -> true;
          case CONTROL, UNKNOWN, BYTE -> false;
        };
  }

  @Override
  public void encode(String word, IntSequence out) {
    int length = word.length();
    double[] best = new double[length + 1];
    int[] from = new int[length + 1];
    int[] by = new int[length + 1];
    Arrays.fill(from, -1);
    for (int at = 0; at < length; ) {
      int next = at + Character.charCount(word.codePointAt(at));
      if (!extend(word, at, next, best, from, by)) {
        offer(next, at, best[at] + unknownScore, -1, best, from, by);
      }
      at = next;
    }
    emit(word, from, by, out);
  }

  /** Tries all pieces at a place; whether one of them is just the character there. */
  private boolean extend(String word, int at, int next, double[] best, int[] from, int[] by) {
    boolean single = false;
    int low = 0;
    int high = pieces.length;
    for (int end = at; low < high; end++) {
      int depth = end - at;
      if (pieces[low].length() == depth) {
        // The empty piece isn't among them, so the depth is at least 1.
        offer(end, at, best[at] + scores[low], low, best, from, by);
        single |= end == next;
        low++;
      }
      if (end == word.length()) {
        break;
      }
      char c = word.charAt(end);
      low = firstNotBelow(c, depth, low, high);
      high = firstNotBelow(c + 1, depth, low, high);
    }
    return single;
  }

  private static void offer(
      int end, int start, double score, int piece, double[] best, int[] from, int[] by) {
    if (from[end] < 0 || score > best[end]) {
      best[end] = score;
      from[end] = start;
      by[end] = piece;
    }
  }

  private void emit(String word, int[] from, int[] by, IntSequence out) {
    int[] ends = new int[word.length()];
    int count = 0;
    for (int end = word.length(); end > 0; end = from[end]) {
      ends[count++] = end;
    }
    for (int i = count - 1; i >= 0; i--) {
      int end = ends[i];
      if (by[end] >= 0) {
        out.add(ids[by[end]]);
        continue;
      }
      int start = from[end];
      while (i > 0 && by[ends[i - 1]] < 0) {
        end = ends[--i];
      }
      spell(word.substring(start, end), out);
    }
  }

  private void spell(String unknownText, IntSequence out) {
    if (hasBytes) {
      for (byte b : unknownText.getBytes(StandardCharsets.UTF_8)) {
        out.add(byteTokens[b & 0xFF]);
      }
    } else if (unknown >= 0) {
      out.add(unknown);
    }
  }

  private int firstNotBelow(int c, int depth, int from, int to) {
    int low = from;
    int high = to;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (pieces[middle].length() <= depth || pieces[middle].charAt(depth) < c) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}

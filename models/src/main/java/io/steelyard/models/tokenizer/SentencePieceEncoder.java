package io.steelyard.models.tokenizer;

import java.util.Arrays;
import java.util.Locale;

/**
 * SentencePiece's byte-pair form as the Llama and Llama 2 models use it: characters are merged into
 * the neighbouring pair whose token has the highest score; what has no token is spelled in bytes
 * (Kudo and Richardson 2018), or is one unknown token where the vocabulary has no bytes.
 */
final class SentencePieceEncoder implements SegmentEncoder {
  /** U+2581, which stands for a space in the vocabulary. */
  static final char SPACE = '\u2581';

  private final Vocabulary vocabulary;
  private final int[] priorities;
  private final int[] byteTokens = new int[256];
  private final int unknown;
  private final boolean spacePrefix;
  private final boolean spacesLead;
  private final boolean hasBytes;

  /**
   * @param unknown the token for a byte that has none, -1 to leave it out
   * @param spacePrefix whether a space is put before the text and after each special token
   */
  SentencePieceEncoder(Vocabulary vocabulary, float[] scores, int unknown, boolean spacePrefix) {
    this.vocabulary = vocabulary;
    this.unknown = unknown;
    this.spacePrefix = spacePrefix;
    priorities = new int[vocabulary.size()];
    boolean lead = true;
    for (int id = 0; id < priorities.length; id++) {
      priorities[id] = descending(scores[id]);
      lead &= !hasInnerSpace(vocabulary.piece(id));
    }
    spacesLead = lead;
    boolean bytes = false;
    for (int value = 0; value < 256; value++) {
      int id = vocabulary.idOf(String.format(Locale.ROOT, "<0x%02X>", value));
      bytes |= id >= 0;
      byteTokens[value] =
          id < 0 && value < 0x80 ? vocabulary.idOf(String.valueOf((char) value)) : id;
    }
    hasBytes = bytes;
  }

  /** A number that orders as the scores do, the other way round. */
  private static int descending(float score) {
    int bits = Float.floatToIntBits(score + 0f);
    return ~(bits ^ ((bits >> 31) & 0x7FFFFFFF));
  }

  private static boolean hasInnerSpace(String piece) {
    for (int i = 1; i < piece.length(); i++) {
      if (piece.charAt(i) == SPACE && piece.charAt(i - 1) != SPACE) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void encode(String text, int from, int to, boolean first, IntSequence ids) {
    Merger merger = new Merger();
    boolean prefix = spacePrefix && first;
    int at = from;
    // No token reaches over the beginning of a space, so no merge does: words one at a time are the
    // same and stay in the cache.
    for (int i = from + 1; spacesLead && i < to; i++) {
      if (isSpace(text.charAt(i)) && !isSpace(text.charAt(i - 1))) {
        merger.word(text, at, i, prefix, ids);
        prefix = false;
        at = i;
      }
    }
    merger.word(text, at, to, prefix, ids);
  }

  private static boolean isSpace(char c) {
    return c == ' ' || c == SPACE;
  }

  private final class Merger extends PairMerger {
    private byte[] bytes = new byte[64];

    void word(String text, int from, int to, boolean prefix, IntSequence ids) {
      int symbols = read(text, from, to, prefix);
      for (int i = 0; i < symbols; i++) {
        token[i] = vocabulary.find(bytes, start[i], start[i + 1]);
      }
      merge(symbols);
      boolean unknownBefore = false;
      for (int i = 0; i < symbols; i = next(i)) {
        if (token[i] != NONE) {
          ids.add(token[i]);
        } else if (hasBytes) {
          spell(start[i], end(i), ids);
        } else if (unknown >= 0 && !unknownBefore) {
          ids.add(unknown);
        }
        unknownBefore = token[i] == NONE;
      }
    }

    private void spell(int from, int to, IntSequence ids) {
      for (int i = from; i < to; i++) {
        int id = byteTokens[bytes[i] & 0xFF];
        int spelled = id < 0 ? unknown : id;
        if (spelled >= 0) {
          ids.add(spelled);
        }
      }
    }

    private int read(String text, int from, int to, boolean prefix) {
      int most = Math.multiplyExact(3, to - from + 1);
      if (bytes.length < most) {
        bytes = Arrays.copyOf(bytes, most);
      }
      reserve(to - from + 1);
      int symbols = 0;
      int length = 0;
      if (prefix) {
        start[symbols++] = 0;
        length = Utf8.put(bytes, 0, SPACE);
      }
      for (int i = from; i < to; ) {
        int codePoint = text.codePointAt(i);
        start[symbols++] = length;
        length = Utf8.put(bytes, length, codePoint == ' ' ? SPACE : codePoint);
        i += Character.charCount(codePoint);
      }
      start[symbols] = length;
      return symbols;
    }

    @Override
    int candidate(int left, int right) {
      return vocabulary.find(bytes, start[left], end(right));
    }

    @Override
    int priority(int id) {
      return priorities[id];
    }

    @Override
    int merged(int id) {
      return id;
    }
  }
}

package io.steelyard.models.tokenizer;

import io.steelyard.models.ModelException;
import java.util.Arrays;
import java.util.List;

/**
 * Byte-level byte-pair encoding: a word's bytes, merged pair by pair in the order of the merge list
 * (Sennrich et al. 2016, over bytes as in GPT-2).
 */
final class BytePairEncoder implements SegmentEncoder {
  private static final int MOST_MERGES = 1 << 22;

  private final PreTokenizer preTokenizer;
  private final Vocabulary vocabulary;
  private final boolean wholeWordsFirst;
  private final int[] byteTokens = new int[256];
  private final LongIntTable ranks;
  private final int[] mergedTokens;

  /**
   * @param wholeWordsFirst whether a word that is a token is taken as it stands, whatever merges
   *     would make of it
   * @param merges {@code left right}, best first
   */
  BytePairEncoder(
      Vocabulary vocabulary,
      PreTokenizer preTokenizer,
      boolean wholeWordsFirst,
      List<String> merges) {
    this.vocabulary = vocabulary;
    this.preTokenizer = preTokenizer;
    this.wholeWordsFirst = wholeWordsFirst;
    if (merges.size() > MOST_MERGES) {
      throw new ModelException(
          "tokenizer.ggml.merges has %d entries; at most %d make sense"
              .formatted(merges.size(), MOST_MERGES));
    }
    for (int value = 0; value < 256; value++) {
      byteTokens[value] = vocabulary.idOf(String.valueOf(ByteAlphabet.character(value)));
    }
    ranks = new LongIntTable(merges.size());
    mergedTokens = new int[merges.size()];
    for (int rank = 0; rank < mergedTokens.length; rank++) {
      add(merges.get(rank), rank);
    }
  }

  private void add(String merge, int rank) {
    int space = merge.indexOf(' ', 1);
    if (space < 0 || space == merge.length() - 1) {
      throw new ModelException(
          "tokenizer.ggml.merges[%d] is \"%s\"; two tokens with a space between were expected"
              .formatted(rank, Vocabulary.shortened(merge)));
    }
    String left = merge.substring(0, space);
    String right = merge.substring(space + 1);
    int leftToken = known(left, merge, rank);
    int rightToken = known(right, merge, rank);
    mergedTokens[rank] = known(left + right, merge, rank);
    ranks.putIfAbsent(pair(leftToken, rightToken), rank);
  }

  private int known(String piece, String merge, int rank) {
    int id = vocabulary.idOf(piece);
    if (id < 0) {
      throw new ModelException(
          "tokenizer.ggml.merges[%d] (\"%s\") needs the token \"%s\", which the vocabulary lacks; convert the model again"
              .formatted(rank, Vocabulary.shortened(merge), Vocabulary.shortened(piece)));
    }
    return id;
  }

  private static long pair(int left, int right) {
    return ((long) left << 32) | right;
  }

  @Override
  public void encode(String text, int from, int to, boolean first, IntSequence ids) {
    Merger merger = new Merger();
    preTokenizer.split(text, from, to, (start, end) -> merger.word(text, start, end, ids));
  }

  private final class Merger extends PairMerger {
    private byte[] bytes = new byte[64];

    void word(String text, int from, int to, IntSequence ids) {
      int length = read(text, from, to);
      if (wholeWordsFirst) {
        int whole = vocabulary.find(bytes, 0, length);
        if (whole >= 0) {
          ids.add(whole);
          return;
        }
      }
      reserve(length);
      for (int i = 0; i < length; i++) {
        token[i] = byteTokens[bytes[i] & 0xFF];
      }
      merge(length);
      for (int i = 0; i < length; i = next(i)) {
        // A byte that the vocabulary can't spell is left out, as other engines do.
        if (token[i] != NONE) {
          ids.add(token[i]);
        }
      }
    }

    private int read(String text, int from, int to) {
      int most = Math.multiplyExact(3, to - from);
      if (bytes.length < most) {
        bytes = Arrays.copyOf(bytes, most);
      }
      int length = 0;
      for (int i = from; i < to; ) {
        char c = text.charAt(i);
        if (c < 0x80) {
          bytes[length++] = (byte) c;
          i++;
        } else {
          int codePoint = text.codePointAt(i);
          length = Utf8.put(bytes, length, codePoint);
          i += Character.charCount(codePoint);
        }
      }
      return length;
    }

    @Override
    int candidate(int left, int right) {
      return token[left] == NONE || token[right] == NONE
          ? NONE
          : ranks.get(pair(token[left], token[right]));
    }

    @Override
    int priority(int rank) {
      return rank;
    }

    @Override
    int merged(int rank) {
      return mergedTokens[rank];
    }
  }
}

package io.steelyard.models.tokenizer;

import io.steelyard.models.ModelException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * SentencePiece's table of replacements: a double-array trie over UTF-8 (Darts-clone's units of 32
 * bits), after it the replacements, each ended by a zero byte. The trie gives for a text that has a
 * replacement where that begins.
 *
 * @see <a href="https://github.com/google/sentencepiece/blob/master/doc/normalization.md">the rules
 *     that such tables are made of</a>
 */
final class CharsMap {
  private static final Pattern GRAPHEME = Pattern.compile("\\X");

  /** Longer ones are replaced character by character, as Hugging Face's tokenizers do. */
  private static final int LONGEST_GRAPHEME_BYTES = 5;

  private final int[] units;
  private final byte[] replacements;

  private CharsMap(int[] units, byte[] replacements) {
    this.units = units;
    this.replacements = replacements;
  }

  /**
   * Reads a table.
   *
   * @throws ModelException if it is none
   */
  static CharsMap of(byte[] table) {
    ByteBuffer in = ByteBuffer.wrap(table).order(ByteOrder.LITTLE_ENDIAN);
    long trieBytes = table.length < 4 ? -1 : Integer.toUnsignedLong(in.getInt());
    if (trieBytes <= 0 || trieBytes % 4 != 0 || trieBytes > table.length - 4) {
      throw new ModelException(
          "the tokenizer's precompiled_charsmap of %d bytes claims a trie of %d; fetch or convert the model again"
              .formatted(table.length, trieBytes));
    }
    int[] units = new int[(int) trieBytes / 4];
    in.asIntBuffer().get(units);
    return new CharsMap(units, Arrays.copyOfRange(table, 4 + (int) trieBytes, table.length));
  }

  /** The text with the longest replaceable part at each place replaced, as SentencePiece does. */
  String longest(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    StringBuilder out = new StringBuilder(text.length());
    int at = 0;
    int kept = 0;
    while (at < bytes.length) {
      long match = match(bytes, at, bytes.length, true);
      if (match >= 0) {
        out.append(new String(bytes, kept, at - kept, StandardCharsets.UTF_8));
        out.append(replacement((int) match));
        at += (int) (match >>> 32);
        kept = at;
      } else {
        at++;
        while (at < bytes.length && (bytes[at] & 0xC0) == 0x80) {
          at++;
        }
      }
    }
    return out.append(new String(bytes, kept, at - kept, StandardCharsets.UTF_8)).toString();
  }

  /**
   * The text with graphemes replaced, as Hugging Face's tokenizers do: a short one whole if it, or
   * a beginning of it, has a replacement; of others each character by itself.
   */
  String byGraphemes(String text) {
    StringBuilder out = new StringBuilder(text.length());
    Matcher graphemes = GRAPHEME.matcher(text);
    while (graphemes.find()) {
      String grapheme = graphemes.group();
      if (!appendReplaced(grapheme, LONGEST_GRAPHEME_BYTES, out)) {
        grapheme
            .codePoints()
            .mapToObj(Character::toString)
            .forEach(
                character -> {
                  if (!appendReplaced(character, Integer.MAX_VALUE, out)) {
                    out.append(character);
                  }
                });
      }
    }
    return out.toString();
  }

  private boolean appendReplaced(String text, int mostBytes, StringBuilder out) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    long match = bytes.length > mostBytes ? -1 : match(bytes, 0, bytes.length, false);
    if (match >= 0) {
      out.append(replacement((int) match));
    }
    return match >= 0;
  }

  /** Length (upper half) and replacement (lower half) of a match at a place, or -1. */
  private long match(byte[] bytes, int from, int to, boolean longest) {
    long match = -1;
    int node = offset(unit(0));
    for (int at = from; at < to; at++) {
      int value = bytes[at] & 0xFF;
      if (value == 0) {
        return match;
      }
      node ^= value;
      int unit = unit(node);
      if ((unit & 0x8000_00FF) != value) {
        return match;
      }
      node ^= offset(unit);
      if (((unit >>> 8) & 1) == 1) {
        match = ((long) (at + 1 - from) << 32) | (unit(node) & 0x7FFF_FFFF);
        if (!longest) {
          return match;
        }
      }
    }
    return match;
  }

  private static int offset(int unit) {
    return (unit >>> 10) << ((unit & (1 << 9)) >>> 6);
  }

  private int unit(int index) {
    if (index < 0 || index >= units.length) {
      throw new ModelException(
          "the tokenizer's precompiled_charsmap leads out of its trie; fetch or convert the model again");
    }
    return units[index];
  }

  private String replacement(int from) {
    int end = from;
    while (end < replacements.length && replacements[end] != 0) {
      end++;
    }
    if (end >= replacements.length) {
      throw new ModelException(
          "the tokenizer's precompiled_charsmap leads out of its replacements; fetch or convert the model again");
    }
    return new String(replacements, from, end - from, StandardCharsets.UTF_8);
  }
}

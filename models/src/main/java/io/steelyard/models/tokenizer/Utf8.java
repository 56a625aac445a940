package io.steelyard.models.tokenizer;

/**
 * UTF-8 without the allocations of the JDK's encoder, and the cut that never splits a character.
 */
final class Utf8 {
  private static final char REPLACEMENT = '\uFFFD';

  private Utf8() {}

  /** The text with each lone surrogate, which no encoding can hold, replaced by U+FFFD. */
  static String wellFormed(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        if (isPair(text, i)) {
          i++;
        } else {
          return repair(text, i);
        }
      }
    }
    return text;
  }

  private static String repair(String text, int from) {
    StringBuilder repaired = new StringBuilder(text);
    for (int i = from; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        if (isPair(text, i)) {
          i++;
        } else {
          repaired.setCharAt(i, REPLACEMENT);
        }
      }
    }
    return repaired.toString();
  }

  private static boolean isPair(String text, int at) {
    return Character.isHighSurrogate(text.charAt(at))
        && at + 1 < text.length()
        && Character.isLowSurrogate(text.charAt(at + 1));
  }

  /** Writes a code point at {@code at} and returns where the next goes. */
  static int put(byte[] bytes, int at, int codePoint) {
    if (codePoint < 0x80) {
      bytes[at] = (byte) codePoint;
      return at + 1;
    }
    if (codePoint < 0x800) {
      bytes[at] = (byte) (0xC0 | (codePoint >> 6));
      bytes[at + 1] = continuation(codePoint);
      return at + 2;
    }
    if (codePoint < 0x10000) {
      bytes[at] = (byte) (0xE0 | (codePoint >> 12));
      bytes[at + 1] = continuation(codePoint >> 6);
      bytes[at + 2] = continuation(codePoint);
      return at + 3;
    }
    bytes[at] = (byte) (0xF0 | (codePoint >> 18));
    bytes[at + 1] = continuation(codePoint >> 12);
    bytes[at + 2] = continuation(codePoint >> 6);
    bytes[at + 3] = continuation(codePoint);
    return at + 4;
  }

  private static byte continuation(int bits) {
    return (byte) (0x80 | (bits & 0x3F));
  }

  /**
   * How many of the last bytes begin a character that further bytes could still complete (Unicode
   * standard, table 3-7: well-formed byte sequences).
   */
  static int incompleteTail(byte[] bytes, int length) {
    for (int back = 1; back <= Math.min(3, length); back++) {
      int lead = bytes[length - back] & 0xFF;
      if (lead >= 0xC0) {
        int needed = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
        boolean possible =
            lead >= 0xC2
                && lead <= 0xF4
                && back < needed
                && (back == 1 || secondFits(lead, bytes[length - back + 1] & 0xFF));
        return possible ? back : 0;
      }
      if (lead < 0x80) {
        return 0;
      }
    }
    return 0;
  }

  private static boolean secondFits(int lead, int second) {
    return switch (lead) {
      case 0xE0 -> second >= 0xA0;
      case 0xED -> second <= 0x9F;
      case 0xF0 -> second >= 0x90;
      case 0xF4 -> second <= 0x8F;
      default -> true;
    };
  }
}

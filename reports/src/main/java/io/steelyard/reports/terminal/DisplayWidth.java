package io.steelyard.reports.terminal;

/**
 * How many columns of a terminal text fills. Wide and fullwidth characters (Unicode Standard Annex
 * 11) and emoji fill two, combining marks and format characters none.
 */
public final class DisplayWidth {

  /** First and last code point of the blocks that terminals draw two columns wide. */
  private static final int[][] WIDE = {
    {0x1100, 0x115F}, // Hangul Jamo, leading consonants
    {0x2E80, 0x303E}, // CJK radicals, punctuation
    {0x3041, 0xA4CF}, // Kana, CJK ideographs, Yi
    {0xA960, 0xA97C}, // Hangul Jamo Extended-A
    {0xAC00, 0xD7A3}, // Hangul syllables
    {0xF900, 0xFAFF}, // CJK compatibility ideographs
    {0xFE10, 0xFE19}, // vertical forms
    {0xFE30, 0xFE6F}, // CJK compatibility forms
    {0xFF00, 0xFF60}, // fullwidth forms
    {0xFFE0, 0xFFE6}, // fullwidth signs
    {0x16FE0, 0x1B2FF}, // Tangut, Khitan, Kana supplements
    {0x20000, 0x3FFFD} // CJK ideographs, supplementary planes
  };

  private DisplayWidth() {}

  /** Columns that the text fills; control characters count as none. */
  public static int of(String text) {
    return text.codePoints().map(DisplayWidth::of).sum();
  }

  /** Columns that one code point fills: 0, 1 or 2. */
  public static int of(int codePoint) {
    if (codePoint < 0x20) {
      return 0;
    }
    if (codePoint < 0x300) {
      // U+00AD, the soft hyphen, is shown by terminals although it is a format character.
      return codePoint >= 0x7F && codePoint < 0xA0 ? 0 : 1;
    }
    int type = Character.getType(codePoint);
    if (type == Character.NON_SPACING_MARK
        || type == Character.ENCLOSING_MARK
        || type == Character.FORMAT) {
      return 0;
    }
    if (Character.isEmojiPresentation(codePoint)) {
      return 2;
    }
    for (int[] range : WIDE) {
      if (codePoint >= range[0] && codePoint <= range[1]) {
        return 2;
      }
    }
    return 1;
  }

  /** The text with spaces behind it, so that it fills the columns; longer text stays as it is. */
  public static String padRight(String text, int columns) {
    return text + " ".repeat(Math.max(0, columns - of(text)));
  }

  /** The text with spaces before it, so that it fills the columns; longer text stays as it is. */
  public static String padLeft(String text, int columns) {
    return " ".repeat(Math.max(0, columns - of(text))) + text;
  }

  /** The text cut to the columns, its middle replaced by {@code …} where it is longer. */
  public static String shorten(String text, int columns) {
    if (of(text) <= columns) {
      return text;
    }
    int tail = (columns - 1) / 2;
    return head(text, columns - 1 - tail) + "…" + tail(text, tail);
  }

  /** The longest beginning of the text that fits the columns. */
  public static String head(String text, int columns) {
    int end = 0;
    int used = 0;
    while (end < text.length()) {
      int c = text.codePointAt(end);
      used += of(c);
      if (used > columns) {
        break;
      }
      end += Character.charCount(c);
    }
    return text.substring(0, end);
  }

  private static String tail(String text, int columns) {
    int start = text.length();
    int used = 0;
    while (start > 0) {
      int c = text.codePointBefore(start);
      used += of(c);
      if (used > columns) {
        break;
      }
      start -= Character.charCount(c);
    }
    return text.substring(start);
  }
}

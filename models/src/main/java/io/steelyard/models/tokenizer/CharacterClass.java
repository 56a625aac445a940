package io.steelyard.models.tokenizer;

/**
 * The Unicode properties that the published patterns name: {@code \p{L}}, {@code \p{N}}, {@code
 * \p{P}} and {@code \s}, the last meaning the property White_Space and not the narrower sets of
 * {@code java.util.regex} and {@link Character#isWhitespace}.
 */
final class CharacterClass {
  static final int OTHER = 0;
  static final int LETTER = 1;
  static final int NUMBER = 2;
  static final int SPACE = 3;
  static final int PUNCTUATION = 4;

  private static final byte[] BASIC_PLANE = new byte[0x10000];

  static {
    for (int c = 0; c < BASIC_PLANE.length; c++) {
      BASIC_PLANE[c] = (byte) classify(c);
    }
  }

  private CharacterClass() {}

  /** The class of the code point that begins at {@code at}, which must be well-formed. */
  static int at(String text, int at) {
    char c = text.charAt(at);
    return Character.isHighSurrogate(c) ? classify(text.codePointAt(at)) : BASIC_PLANE[c];
  }

  /** The number of chars of the code point that begins with {@code c}. */
  static int width(char c) {
    return Character.isHighSurrogate(c) ? 2 : 1;
  }

  private static int classify(int codePoint) {
    if (isWhiteSpace(codePoint)) {
      return SPACE;
    }
    return switch (Character.getType(codePoint)) {
      case Character.UPPERCASE_LETTER,
          Character.LOWERCASE_LETTER,
          Character.TITLECASE_LETTER,
          Character.MODIFIER_LETTER,
          Character.OTHER_LETTER ->
          LETTER;
      case Character.DECIMAL_DIGIT_NUMBER, Character.LETTER_NUMBER, Character.OTHER_NUMBER ->
          NUMBER;
      case Character.CONNECTOR_PUNCTUATION,
          Character.DASH_PUNCTUATION,
          Character.START_PUNCTUATION,
          Character.END_PUNCTUATION,
          Character.INITIAL_QUOTE_PUNCTUATION,
          Character.FINAL_QUOTE_PUNCTUATION,
          Character.OTHER_PUNCTUATION ->
          PUNCTUATION;
      default -> OTHER;
    };
  }

  private static boolean isWhiteSpace(int c) {
    return (c >= 0x09 && c <= 0x0D)
        || c == 0x20
        || c == 0x85
        || c == 0xA0
        || c == 0x1680
        || (c >= 0x2000 && c <= 0x200A)
        || c == 0x2028
        || c == 0x2029
        || c == 0x202F
        || c == 0x205F
        || c == 0x3000;
  }
}

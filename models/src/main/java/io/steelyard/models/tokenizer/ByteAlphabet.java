package io.steelyard.models.tokenizer;

import java.nio.charset.StandardCharsets;

/**
 * The 256 printable characters by which byte-level vocabularies spell bytes: printable Latin-1
 * stands for itself, the other 68 bytes, in order, for U+0100 onwards. Published with GPT-2.
 */
final class ByteAlphabet {
  private static final int CHARACTERS = 0x100 + 68;
  private static final char[] CHARACTER = new char[256];
  private static final short[] BYTE = new short[CHARACTERS];

  static {
    java.util.Arrays.fill(BYTE, (short) -1);
    char free = 0x100;
    for (int b = 0; b < 256; b++) {
      boolean printable =
          (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF);
      CHARACTER[b] = printable ? (char) b : free++;
      BYTE[CHARACTER[b]] = (short) b;
    }
  }

  private ByteAlphabet() {}

  /** The character that spells a byte (0 to 255). */
  static char character(int value) {
    return CHARACTER[value];
  }

  /** Whether every character of a piece spells a byte. */
  static boolean spells(String piece) {
    for (int i = 0; i < piece.length(); i++) {
      if (piece.charAt(i) >= CHARACTERS || BYTE[piece.charAt(i)] < 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * The bytes that a piece spells; the piece's own UTF-8 when it isn't spelled in this alphabet.
   */
  static byte[] bytes(String piece) {
    if (!spells(piece)) {
      return piece.getBytes(StandardCharsets.UTF_8);
    }
    byte[] bytes = new byte[piece.length()];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) BYTE[piece.charAt(i)];
    }
    return bytes;
  }
}

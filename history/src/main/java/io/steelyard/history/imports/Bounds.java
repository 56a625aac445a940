package io.steelyard.history.imports;

import io.steelyard.history.HistoryException;
import io.steelyard.lab.RunException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** How much is read of a foreign file, checked before anything is allocated for it. */
final class Bounds {
  /** Bytes of a file. */
  static final int FILE = 128 << 20;

  /** Characters of a name or another text. */
  static final int TEXT = 16_384;

  /** Timed calls of a file. */
  static final int VALUES = 2_000_000;

  /** Rows, benchmarks or results of a file. */
  static final int CELLS = 100_000;

  /** No measurement is larger, and sums of squares of smaller numbers are finite. */
  private static final double LARGEST = 1e150;

  private Bounds() {}

  /**
   * A number that can be reckoned with.
   *
   * @param place the file and the place in it
   * @throws HistoryException if it is not finite, or larger than anything that is measured
   */
  static double finite(String place, double value) {
    if (!(Math.abs(value) <= LARGEST)) {
      throw new HistoryException(place + ": the number is not finite, or far too large");
    }
    return value;
  }

  /**
   * The bytes of a file.
   *
   * @throws HistoryException if it can't be read, is empty or too large
   */
  static byte[] bytes(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      // Its size may be told wrong, as that of a pipe is.
      byte[] bytes = in.readNBytes(FILE + 1);
      if (bytes.length > FILE) {
        throw new HistoryException("%s has more than %d MiB: split it".formatted(file, FILE >> 20));
      }
      if (bytes.length == 0) {
        throw new HistoryException(file + " is empty: nothing was written, or all of it was lost");
      }
      return bytes;
    } catch (IOException e) {
      String why = Files.isDirectory(file) ? "it is a folder" : reason(file, e);
      throw new HistoryException("can't read %s: %s".formatted(file, why), e);
    }
  }

  private static String reason(Path file, IOException e) {
    return Files.exists(file) ? RunException.reason(e) : "there is no such file";
  }

  /** A file's bytes as UTF-8, without a byte order mark. */
  static String text(Path file, byte[] bytes) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      return text.startsWith("\ufeff") ? text.substring(1) : text;
    } catch (CharacterCodingException e) {
      throw new HistoryException(file + " is no text in UTF-8", e);
    }
  }

  /**
   * A text as it is kept: line breaks and tabs become spaces.
   *
   * @param place the file and the place in it
   * @throws HistoryException if it is too long or holds characters that no terminal should be sent
   */
  static String clean(String place, String text) {
    if (text.length() > TEXT) {
      throw new HistoryException(
          "%s: a text of %,d characters; at most %,d are read"
              .formatted(place, text.length(), TEXT));
    }
    StringBuilder clean = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              boolean space = c == '\n' || c == '\r' || c == '\t';
              boolean surrogate = c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE;
              if (!space && (Character.isISOControl(c) || surrogate)) {
                throw new HistoryException(
                    "%s: a text holds the character U+%04X".formatted(place, c));
              }
              clean.appendCodePoint(space ? ' ' : c);
            });
    return clean.toString().strip();
  }
}

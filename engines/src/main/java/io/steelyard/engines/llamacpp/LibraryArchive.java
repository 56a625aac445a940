package io.steelyard.engines.llamacpp;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/**
 * Takes the libraries of {@link LlamaCppRelease} out of a gzipped tar archive and leaves everything
 * else in it. Only exact, known file names are ever written, into one flat folder.
 *
 * <p>Source: the ustar header of POSIX.1-1988: blocks of 512 bytes, name at 0, size in octal at
 * 124, type at 156, name prefix at 345.
 */
final class LibraryArchive {
  private static final int BLOCK = 512;
  private static final int MOST_ENTRIES = 100_000;

  private LibraryArchive() {}

  /**
   * Unpacks.
   *
   * @throws IOException if the archive is damaged, larger than {@link
   *     LlamaCppRelease#MOST_ARCHIVE_BYTES}, holds a path that leads out of it, or holds something
   *     else under a library's name
   */
  static void extract(Path archive, Path folder) throws IOException {
    try (InputStream in =
        new BufferedInputStream(new GZIPInputStream(Files.newInputStream(archive), 1 << 16))) {
      long read = 0;
      for (int entries = 0; entries < MOST_ENTRIES; entries++) {
        byte[] header = in.readNBytes(BLOCK);
        if (header.length == 0 || isEnd(header)) {
          return;
        }
        if (header.length < BLOCK) {
          throw new EOFException("the archive ends within a header");
        }
        long size = octal(header, 124, 12);
        read += BLOCK + size;
        if (read > LlamaCppRelease.MOST_ARCHIVE_BYTES) {
          throw new IOException("the archive unpacks to more than is plausible");
        }
        String path = path(header);
        String name = path.substring(path.lastIndexOf('/') + 1);
        long left = size;
        if (LlamaCppRelease.LIBRARIES.containsKey(name)) {
          checkEntry(path, name, header[156], size);
          try (OutputStream out = Files.newOutputStream(folder.resolve(name))) {
            copy(in, out, size);
          }
          left = 0;
        }
        in.skipNBytes(left + (BLOCK - size % BLOCK) % BLOCK);
      }
      throw new IOException("the archive has more than " + MOST_ENTRIES + " entries");
    }
  }

  private static void checkEntry(String path, String name, byte type, long size)
      throws IOException {
    if (path.startsWith("/") || path.contains("../")) {
      throw new IOException("the archive holds a path that leads out of it: " + path);
    }
    if (type != '0' && type != 0) {
      throw new IOException("the archive holds " + path + ", which is no plain file");
    }
    long expected = LlamaCppRelease.LIBRARIES.get(name).size();
    if (size != expected) {
      throw new IOException(
          "the archive's %s has %d bytes instead of %d".formatted(path, size, expected));
    }
  }

  private static void copy(InputStream in, OutputStream out, long size) throws IOException {
    byte[] buffer = new byte[1 << 16];
    for (long left = size; left > 0; ) {
      int count = in.read(buffer, 0, (int) Math.min(buffer.length, left));
      if (count < 0) {
        throw new EOFException("the archive ends within a file");
      }
      out.write(buffer, 0, count);
      left -= count;
    }
  }

  private static boolean isEnd(byte[] header) {
    for (byte b : header) {
      if (b != 0) {
        return false;
      }
    }
    return true;
  }

  private static String path(byte[] header) {
    String prefix = text(header, 345, 155);
    String name = text(header, 0, 100);
    return prefix.isEmpty() ? name : prefix + "/" + name;
  }

  private static String text(byte[] header, int from, int length) {
    int end = from;
    while (end < from + length && header[end] != 0) {
      end++;
    }
    return new String(header, from, end - from, StandardCharsets.UTF_8);
  }

  private static long octal(byte[] header, int from, int length) throws IOException {
    String digits = text(header, from, length).strip();
    try {
      long value = Long.parseLong(digits, 8);
      if (value >= 0) {
        return value;
      }
    } catch (NumberFormatException e) {
      throw new IOException("the archive has a header that is no tar header", e);
    }
    throw new IOException("the archive has an entry of negative size");
  }
}

package io.steelyard.models;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/** SHA-256 checksums, written in lower-case hexadecimal. */
public final class Sha256 {
  private static final int BUFFER = 1 << 20;

  private Sha256() {}

  /** An empty digest. */
  public static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** The checksum of what a digest was given; the digest is empty then. */
  public static String hex(MessageDigest digest) {
    return HexFormat.of().formatHex(digest.digest());
  }

  /** The checksum of a file. */
  public static String of(Path file) throws IOException {
    return of(file, ProgressListener.NONE);
  }

  /** The checksum of a file, told how far it has come. */
  public static String of(Path file, ProgressListener listener) throws IOException {
    return of(List.of(file), listener);
  }

  /** The checksum of several files, one after the other, told how far it has come. */
  public static String of(List<Path> files, ProgressListener listener) throws IOException {
    MessageDigest digest = digest();
    long size = 0;
    for (Path file : files) {
      size += Files.size(file);
    }
    byte[] buffer = new byte[BUFFER];
    long done = 0;
    for (Path file : files) {
      try (InputStream in = Files.newInputStream(file)) {
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          digest.update(buffer, 0, n);
          done += n;
          listener.progress(done, size);
        }
      }
    }
    return hex(digest);
  }
}

package io.steelyard.models.catalogue;

import io.steelyard.models.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The checksum that a file must have: its SHA-256, or, for small files of a repository, the SHA-1
 * that git knows its content by.
 *
 * @param kind which of them
 * @param hex lower-case hexadecimal
 * @param bytes size of the file
 */
record FileSum(Kind kind, String hex, long bytes) {
  enum Kind {
    SHA_256("SHA-256", 64),
    GIT("git blob id", 40);

    final String label;
    final int digits;

    Kind(String label, int digits) {
      this.label = label;
      this.digits = digits;
    }
  }

  static FileSum sha256(String hex, long bytes) {
    return new FileSum(Kind.SHA_256, hex, bytes);
  }

  /** A digest that makes such a checksum once it has had all of the file. */
  MessageDigest digest() {
    if (kind == Kind.SHA_256) {
      return Sha256.digest();
    }
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-1");
      digest.update("blob %d\0".formatted(bytes).getBytes(StandardCharsets.US_ASCII));
      return digest;
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }

  /** What a digest was given, as a checksum is written; the digest is spent then. */
  static String hex(MessageDigest digest) {
    return HexFormat.of().formatHex(digest.digest());
  }
}

package io.steelyard.history;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 checksums, written in lower-case hexadecimal. */
public final class Sha256 {
  private Sha256() {}

  /** The checksum of these bytes, one array after the other; each one's length counts too. */
  public static String of(byte[] first, byte[]... more) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(first);
      for (byte[] bytes : more) {
        digest.update((byte) 0);
        digest.update(Integer.toString(bytes.length).getBytes(StandardCharsets.US_ASCII));
        digest.update((byte) 0);
        digest.update(bytes);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}

package io.steelyard.models.catalogue;

import io.steelyard.models.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/** A catalogue with one model, {@code tiny}. */
final class FakeCatalogue {
  private FakeCatalogue() {}

  static byte[] json(long bytes, String sum) {
    return """
    {"models": [{"name": "tiny", "aliases": ["default"], "file": "tiny.gguf",
      "bytes": %d, "sha256": "%s", "standIn": "synth:llama-135m",
      "sources": [
        {"kind": "hub", "repository": "owner/repo", "file": "tiny.gguf"},
        {"kind": "pip", "distribution": "llm-tiny", "version": "1.0", "entry": "llm_tiny/t.gguf"}
      ]}]}
    """
        .formatted(bytes, sum)
        .getBytes(StandardCharsets.UTF_8);
  }

  static String sum(byte[] bytes) {
    MessageDigest digest = Sha256.digest();
    digest.update(bytes);
    return Sha256.hex(digest);
  }
}

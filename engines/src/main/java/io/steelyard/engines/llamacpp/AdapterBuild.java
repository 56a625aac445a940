package io.steelyard.engines.llamacpp;

import io.steelyard.models.sampling.Sampler;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;

/** A checksum of everything that decides what this engine computes. */
final class AdapterBuild {
  private static final List<Class<?>> CODE =
      List.of(
          LlamaCppEngine.class,
          LlamaCppLibrary.class,
          LlamaCppOptions.class,
          LlamaCppStructs.class,
          LlamaContext.class,
          LlamaModel.class,
          Sampler.class);

  private AdapterBuild() {}

  /** The checksum of the libraries, the adapter's code and the processor variant. */
  static String checksum(String variant) {
    MessageDigest digest = LibraryFiles.sha256();
    digest.update(variant.getBytes(StandardCharsets.UTF_8));
    new TreeMap<>(LlamaCppRelease.LIBRARIES)
        .values()
        .forEach(library -> digest.update(HexFormat.of().parseHex(library.sha256())));
    for (Class<?> type : CODE) {
      try (InputStream code = type.getResourceAsStream(type.getSimpleName() + ".class")) {
        if (code == null) {
          throw new IllegalStateException("the class path has no " + type.getName());
        }
        digest.update(code.readAllBytes());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return HexFormat.of().formatHex(digest.digest(), 0, 16);
  }
}

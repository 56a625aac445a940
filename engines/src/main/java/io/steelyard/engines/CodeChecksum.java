package io.steelyard.engines;

import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.models.Sha256;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.MessageDigest;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A checksum over the code that computes results: the archives, or folders of class files, that
 * given classes come from.
 */
public final class CodeChecksum {
  private CodeChecksum() {}

  /**
   * SHA-256 in lower-case hexadecimal.
   *
   * @param facts whatever else decides the results, in any form
   * @param classes one of each archive or folder
   */
  public static String of(String facts, Class<?>... classes) throws EngineException {
    return of(facts, List.of(), classes);
  }

  /**
   * The same over more archives and folders.
   *
   * @param more those that don't exist count for nothing
   */
  public static String of(String facts, List<Path> more, Class<?>... classes)
      throws EngineException {
    try {
      MessageDigest digest = Sha256.digest();
      digest.update(facts.getBytes(StandardCharsets.UTF_8));
      TreeSet<Path> places = new TreeSet<>(more);
      places.removeIf(Files::notExists);
      for (Class<?> each : classes) {
        CodeSource source = each.getProtectionDomain().getCodeSource();
        places.add(Path.of(source.getLocation().toURI()));
      }
      for (Path place : places) {
        add(place, digest);
      }
      return Sha256.hex(digest);
    } catch (IOException | URISyntaxException e) {
      throw new EngineException(
          Kind.FAILED, "Steelyard can't read its own code to identify itself: " + e, e);
    }
  }

  private static void add(Path place, MessageDigest digest) throws IOException {
    if (Files.isRegularFile(place)) {
      digest.update(Files.readAllBytes(place));
      return;
    }
    List<Path> files;
    try (Stream<Path> all = Files.walk(place)) {
      files = all.filter(file -> file.toString().endsWith(".class")).sorted().toList();
    }
    for (Path file : files) {
      digest.update(Files.readAllBytes(file));
    }
  }
}

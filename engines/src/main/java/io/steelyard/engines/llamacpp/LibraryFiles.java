package io.steelyard.engines.llamacpp;

import io.steelyard.models.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Checks that a folder holds exactly the libraries of {@link LlamaCppRelease}.
 *
 * <p>Hashing 23 MB would show in llama.cpp's cold start, so a folder that was hashed once gets a
 * stamp with each file's size and time of change; while these hold, the hashes are taken as read.
 */
final class LibraryFiles {
  private static final String STAMP = "verified.txt";

  /** Where a folder that somebody unpacked may hold the libraries. */
  private static final List<String> LAYOUTS =
      List.of("", "bins/linux-x64", LlamaCppRelease.TARBALL_FOLDER);

  private LibraryFiles() {}

  /** The folder below {@code home} that holds llama.cpp's library, or {@code home} itself. */
  static Path locate(Path home) {
    return LAYOUTS.stream()
        .map(home::resolve)
        .filter(folder -> Files.exists(folder.resolve(LlamaCppRelease.LLAMA_LIBRARY)))
        .findFirst()
        .orElse(home)
        .toAbsolutePath()
        .normalize();
  }

  /**
   * Checks every library.
   *
   * @throws IOException in one sentence that names the folder, if a library is missing, is another
   *     one, or has company that ggml's loader would load too
   */
  static void verify(Path folder) throws IOException {
    String state = state(folder);
    Path stamp = folder.resolve(STAMP);
    if (Files.isRegularFile(stamp) && Files.readString(stamp).equals(state)) {
      return;
    }
    for (Map.Entry<String, LlamaCppRelease.Library> library :
        LlamaCppRelease.LIBRARIES.entrySet()) {
      String found = Sha256.of(folder.resolve(library.getKey()));
      if (!found.equals(library.getValue().sha256())) {
        throw new IOException(
            "%s in %s is not the one of llama.cpp %s: its sha256 is %s instead of %s"
                .formatted(
                    library.getKey(),
                    folder,
                    LlamaCppRelease.VERSION,
                    found,
                    library.getValue().sha256()));
      }
    }
    writeStamp(stamp, state);
  }

  private static String state(Path folder) throws IOException {
    Map<String, String> lines = new TreeMap<>();
    for (Map.Entry<String, LlamaCppRelease.Library> library :
        LlamaCppRelease.LIBRARIES.entrySet()) {
      Path file = folder.resolve(library.getKey());
      long size;
      try {
        size = Files.size(file);
      } catch (NoSuchFileException e) {
        throw new IOException(
            folder + " has no " + library.getKey() + " of llama.cpp " + LlamaCppRelease.VERSION, e);
      }
      if (size != library.getValue().size()) {
        throw new IOException(
            "%s in %s is not the one of llama.cpp %s: it has %d bytes instead of %d"
                .formatted(
                    library.getKey(),
                    folder,
                    LlamaCppRelease.VERSION,
                    size,
                    library.getValue().size()));
      }
      lines.put(
          library.getKey(),
          size
              + " "
              + Files.getLastModifiedTime(file).to(TimeUnit.NANOSECONDS)
              + " "
              + library.getValue().sha256());
    }
    refuseStrangers(folder);
    StringBuilder text = new StringBuilder();
    lines.forEach((name, line) -> text.append(name).append(' ').append(line).append('\n'));
    return text.toString();
  }

  /** ggml loads whatever back end lies beside it; only known ones may. */
  private static void refuseStrangers(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        String name = file.getFileName().toString();
        if (name.startsWith("libggml-")
            && name.endsWith(".so")
            && !LlamaCppRelease.LIBRARIES.containsKey(name)) {
          throw new IOException(
              "%s is no part of llama.cpp %s but would be loaded with it; remove it"
                  .formatted(file, LlamaCppRelease.VERSION));
        }
      }
    }
  }

  private static void writeStamp(Path stamp, String state) {
    try {
      Path part = Files.createTempFile(stamp.getParent(), STAMP, ".part");
      try {
        Files.writeString(part, state);
        Files.move(part, stamp, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        Files.deleteIfExists(part);
      }
    } catch (IOException ignoredReadOnlyFolder) {
      // Only a short cut: a folder that can't be written is hashed again next time.
    }
  }
}

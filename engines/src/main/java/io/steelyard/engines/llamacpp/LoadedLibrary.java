package io.steelyard.engines.llamacpp;

import io.steelyard.engines.ProcessFacts;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.EngineInfo.NativeLibrary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * llama.cpp in this process: at most once, since ggml's registry of back ends is global.
 *
 * @param directory where it came from
 * @param library its functions
 * @param variant the processor variant that ggml chose, such as {@code zen4}
 * @param nanos what loading took, without checking the files
 */
record LoadedLibrary(Path directory, LlamaCppLibrary library, String variant, long nanos) {
  private static Optional<LoadedLibrary> only = Optional.empty();

  /** The library that this process has loaded, if any. */
  static synchronized Optional<LoadedLibrary> loaded() {
    return only;
  }

  /**
   * Loads what is installed, or gives what is loaded.
   *
   * @param directory holds the libraries, checked
   * @throws EngineException if the system can't load them
   */
  static synchronized LoadedLibrary load(Path directory) throws EngineException {
    if (only.isEmpty()) {
      only = Optional.of(loadFirst(directory));
    } else if (!only.get().directory().equals(directory)) {
      throw new EngineException(
          Kind.FAILED,
          "this process has loaded llama.cpp from %s already and can't load %s too"
              .formatted(only.get().directory(), directory));
    }
    return only.get();
  }

  private static LoadedLibrary loadFirst(Path directory) throws EngineException {
    try {
      long start = System.nanoTime();
      LlamaCppLibrary library = LlamaCppLibrary.load(directory);
      long nanos = System.nanoTime() - start;
      return new LoadedLibrary(directory, library, chosenVariant(), nanos);
    } catch (UnsatisfiedLinkError e) {
      throw new EngineException(
          Kind.FAILED,
          "this system can't load llama.cpp, which needs glibc 2.34 and libstdc++: "
              + e.getMessage(),
          e);
    } catch (IllegalStateException | IOException e) {
      throw new EngineException(Kind.FAILED, e.getMessage(), e);
    }
  }

  /** The files loaded, with their checksums. */
  List<NativeLibrary> files() {
    return Stream.of(
            LlamaCppRelease.BASE_LIBRARY,
            LlamaCppRelease.GGML_LIBRARY,
            LlamaCppRelease.LLAMA_LIBRARY,
            LlamaCppRelease.VARIANT_PREFIX + variant + ".so")
        .map(
            name ->
                new NativeLibrary(
                    directory.resolve(name).toString(),
                    LlamaCppRelease.LIBRARIES.get(name).sha256()))
        .toList();
  }

  /** ggml loads every variant to ask how well it fits, and keeps one. */
  private static String chosenVariant() throws IOException {
    List<String> names =
        ProcessFacts.mapped(LlamaCppRelease.VARIANT_PREFIX).stream()
            .map(path -> path.getFileName().toString())
            .toList();
    if (names.size() != 1 || !LlamaCppRelease.LIBRARIES.containsKey(names.getFirst())) {
      throw new IOException("ggml should have chosen one processor variant and has " + names);
    }
    String name = names.getFirst();
    return name.substring(LlamaCppRelease.VARIANT_PREFIX.length(), name.length() - ".so".length());
  }
}

package io.steelyard.engines.llamacpp;

import io.steelyard.engines.InstalledEngine;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.EngineInfo.NativeLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * llama.cpp in this process: at most once, since ggml's registry of back ends is global.
 *
 * @param directory where it came from
 * @param library its functions
 * @param variant the processor variant that ggml chose, such as {@code zen4}
 * @param libraries the files loaded
 * @param nanos what loading took, without checking the files
 */
record LoadedLibrary(
    Path directory,
    LlamaCppLibrary library,
    String variant,
    List<NativeLibrary> libraries,
    long nanos) {

  /** The adapter's own code, for {@link #build}. */
  private static final List<Class<?>> ADAPTER =
      List.of(
          LlamaCppEngine.class,
          LlamaCppLibrary.class,
          LlamaCppOptions.class,
          LlamaCppStructs.class,
          LlamaContext.class,
          LlamaModel.class,
          LogitRow.class,
          TokenChooser.class);

  private static Optional<LoadedLibrary> only = Optional.empty();

  /**
   * Loads what is installed.
   *
   * @throws EngineException if nothing usable is installed, or the system can't load it
   */
  static synchronized LoadedLibrary load(LlamaCppInstaller installer) throws EngineException {
    InstalledEngine installed = installer.status();
    if (installed.directory().isEmpty()) {
      throw new EngineException(Kind.MISSING, installed.message());
    }
    Path directory = installed.directory().get();
    if (only.isPresent()) {
      if (!only.get().directory().equals(directory)) {
        throw new EngineException(
            Kind.FAILED,
            "this process has loaded llama.cpp from %s already and can't load %s too"
                .formatted(only.get().directory(), directory));
      }
      return only.get();
    }
    try {
      long start = System.nanoTime();
      LlamaCppLibrary library = LlamaCppLibrary.load(directory);
      long nanos = System.nanoTime() - start;
      Path variant = chosenVariant();
      List<NativeLibrary> libraries = new ArrayList<>();
      for (String name :
          List.of(
              LlamaCppRelease.BASE_LIBRARY,
              LlamaCppRelease.GGML_LIBRARY,
              LlamaCppRelease.LLAMA_LIBRARY,
              variant.getFileName().toString())) {
        libraries.add(
            new NativeLibrary(
                directory.resolve(name).toString(), LlamaCppRelease.LIBRARIES.get(name).sha256()));
      }
      String name = variant.getFileName().toString();
      only =
          Optional.of(
              new LoadedLibrary(
                  directory,
                  library,
                  name.substring(LlamaCppRelease.VARIANT_PREFIX.length(), name.length() - 3),
                  List.copyOf(libraries),
                  nanos));
      return only.get();
    } catch (UnsatisfiedLinkError e) {
      throw new EngineException(
          Kind.FAILED,
          "this system can't load llama.cpp (it needs glibc 2.34 and libstdc++): " + e.getMessage(),
          e);
    } catch (IllegalStateException | IOException e) {
      throw new EngineException(Kind.FAILED, e.getMessage(), e);
    }
  }

  /** A checksum of the libraries and of the adapter. */
  String build() throws EngineException {
    MessageDigest digest = LibraryFiles.sha256();
    for (NativeLibrary file : libraries) {
      digest.update(file.sha256().getBytes(StandardCharsets.US_ASCII));
    }
    for (Class<?> type : ADAPTER) {
      try (InputStream code = type.getResourceAsStream(type.getSimpleName() + ".class")) {
        if (code == null) {
          throw new IOException("there is no " + type.getSimpleName() + ".class");
        }
        digest.update(code.readAllBytes());
      } catch (IOException e) {
        throw new EngineException(
            Kind.FAILED, "the llama.cpp adapter's own code can't be read: " + e.getMessage(), e);
      }
    }
    return HexFormat.of().formatHex(digest.digest(), 0, 16);
  }

  /** ggml loads every variant to ask how well it fits, and keeps one. */
  private static Path chosenVariant() throws IOException {
    List<Path> variants = SystemFacts.mapped(LlamaCppRelease.VARIANT_PREFIX);
    if (variants.size() != 1
        || !LlamaCppRelease.LIBRARIES.containsKey(variants.getFirst().getFileName().toString())) {
      throw new IOException("ggml should have chosen one processor variant but has " + variants);
    }
    return variants.getFirst();
  }
}

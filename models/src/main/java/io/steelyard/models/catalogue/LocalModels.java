package io.steelyard.models.catalogue;

import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.UnknownNameException;
import io.steelyard.models.synth.Synth;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;

/** Models that a user has: GGUF files, and folders with safetensors files. */
final class LocalModels {
  private final Checksums checksums;
  private final ModelNames names;

  LocalModels(Checksums checksums, ModelNames names) {
    this.checksums = checksums;
    this.names = names;
  }

  /**
   * The model at a path.
   *
   * @param name the path, as asked for
   * @throws ModelException if there is none, or it can't be read
   */
  ResolvedModel get(String name, ResolveListener listener) {
    Path file;
    try {
      file = Path.of(name);
    } catch (InvalidPathException e) {
      throw names.unknown(name);
    }
    if (Files.notExists(file)) {
      boolean path = name.contains("/") || name.toLowerCase(Locale.ROOT).endsWith(".gguf");
      throw path ? new UnknownNameException("there is no file " + file) : names.unknown(name);
    }
    boolean random;
    try (ModelFile model = ModelFile.open(file)) {
      // Other engines ask for the first of several files.
      file = model.path();
      random =
          model.metadata().has(Synth.WEIGHTS_KEY)
              && model.metadata().string(Synth.WEIGHTS_KEY).equals(Synth.RANDOM);
    }
    return new ResolvedModel(
        name, file.toAbsolutePath(), checksums.of(file, listener), "local file", random);
  }
}

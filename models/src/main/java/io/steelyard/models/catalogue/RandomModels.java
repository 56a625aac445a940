package io.steelyard.models.catalogue;

import io.steelyard.models.FileFailure;
import io.steelyard.models.ModelException;
import io.steelyard.models.synth.Synth;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Models of random weights, {@code synth:…}: made when they are asked for the first time. */
final class RandomModels {
  private final ModelCache cache;
  private final Checksums checksums;

  RandomModels(ModelCache cache, Checksums checksums) {
    this.cache = cache;
    this.checksums = checksums;
  }

  /**
   * The file of a model.
   *
   * @param force make it even if it is there
   * @throws ModelException if it can't be written
   */
  ResolvedModel get(SynthName name, boolean force, ResolveListener listener) {
    Path file = cache.model(name.fileName());
    if (!force && Files.isRegularFile(file)) {
      return made(name, file, "cache", listener);
    }
    return cache.locked(
        file,
        listener,
        () -> {
          if (!force && Files.isRegularFile(file)) {
            return made(name, file, "cache", listener);
          }
          cache.removeLeftovers(file);
          Synth.write(
              name.shape(),
              name.mix(),
              name.seed(),
              file,
              listener.begin("making " + name.canonical()));
          return made(name, file, "generated", listener);
        });
  }

  private ResolvedModel made(SynthName name, Path file, String source, ResolveListener listener) {
    return new ResolvedModel(name.canonical(), file, checksums.of(file, listener), source, true);
  }

  /**
   * Those that have been made.
   *
   * @throws ModelException if the cache can't be read
   */
  List<ModelListing> list() {
    Path directory = cache.model("any").getParent();
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.getFileName().toString().matches("synth-.*\\.gguf"))
          .sorted()
          .map(RandomModels::listing)
          .toList();
    } catch (IOException e) {
      throw new ModelException(
          "the model cache %s can't be read: %s".formatted(directory, FileFailure.reason(e)), e);
    }
  }

  private static ModelListing listing(Path file) {
    String name =
        file.getFileName()
            .toString()
            .replaceFirst(
                "synth-(.*)-([A-Z0-9_]+)-seed(-?\\d+)-v\\d+\\.gguf", SynthName.PREFIX + "$1:$2:$3");
    return new ModelListing(
        name, List.of(), file.toFile().length(), Optional.of(file), true, "", true);
  }
}

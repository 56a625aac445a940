package io.steelyard.models.catalogue;

import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.quantize.Quantizer;
import io.steelyard.models.quantize.Scheme;
import java.nio.file.Files;
import java.nio.file.Path;

/** Models in other precisions than their own: made when they are asked for the first time. */
final class RecodedModels {
  /** Goes up whenever the same source would give other files than before. */
  private static final int VERSION = 1;

  private final ModelCache cache;
  private final Checksums checksums;

  RecodedModels(ModelCache cache, Checksums checksums) {
    this.cache = cache;
    this.checksums = checksums;
  }

  /**
   * The same model in another precision: the source itself where it is stored so already, else a
   * file of the cache, made when it is asked for the first time and found by the source's checksum.
   *
   * @throws ModelException if it can't be read or written
   */
  ResolvedModel get(ResolvedModel source, Scheme precision, ResolveListener listener) {
    Path file =
        cache.model(
            "quantized-%s-%s-v%d.gguf"
                .formatted(source.sha256().substring(0, 16), precision.name(), VERSION));
    if (Files.isRegularFile(file)) {
      return recoded(source, precision, file, "cache", listener);
    }
    try (ModelFile model = ModelFile.open(source.file())) {
      Quantizer.Choice choice = Quantizer.Choice.of(precision);
      if (Quantizer.plan(model, choice).stream().noneMatch(Quantizer.Plan::encoded)) {
        return source;
      }
      return cache.locked(
          file,
          listener,
          () -> {
            if (Files.isRegularFile(file)) {
              return recoded(source, precision, file, "cache", listener);
            }
            cache.removeLeftovers(file);
            var _ =
                Quantizer.write(
                    model,
                    choice,
                    file,
                    ProgressListener.NONE,
                    listener.begin("encoding " + precision.name()));
            return recoded(source, precision, file, "encoded", listener);
          });
    }
  }

  private ResolvedModel recoded(
      ResolvedModel source, Scheme precision, Path file, String from, ResolveListener listener) {
    return new ResolvedModel(
        source.name() + " as " + precision.name(),
        file,
        checksums.of(file, listener),
        from,
        source.random());
  }
}

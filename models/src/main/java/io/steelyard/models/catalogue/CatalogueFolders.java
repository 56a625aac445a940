package io.steelyard.models.catalogue;

import io.steelyard.models.ModelException;
import java.nio.file.Path;
import java.util.Optional;

/** Models of the catalogue that are a folder each: in the cache, or fetched from the hub. */
final class CatalogueFolders {
  private final ModelCache cache;
  private final Checksums checksums;
  private final HubFetch hub;
  private final HubFolder folders;

  CatalogueFolders(ModelCache cache, Checksums checksums, HubFetch hub) {
    this.cache = cache;
    this.checksums = checksums;
    this.hub = hub;
    this.folders = new HubFolder(hub);
  }

  /**
   * The folder of a model.
   *
   * @param source where it is
   * @param force fetch it even if it is there
   * @throws ModelException if it can't be fetched
   */
  ResolvedModel get(
      Catalogue.Entry entry, Source.Repository source, boolean force, ResolveListener listener) {
    Path folder = cache.model(entry.file());
    Optional<String> known = force ? Optional.empty() : good(folder, listener);
    if (known.isPresent()) {
      return resolved(entry, folder, known.get(), "cache");
    }
    return cache.locked(
        folder,
        listener,
        () -> {
          Optional<String> meanwhile = force ? Optional.empty() : good(folder, listener);
          if (meanwhile.isPresent()) {
            return resolved(entry, folder, meanwhile.get(), "cache");
          }
          try {
            folders.fetch(source, folder, listener);
          } catch (SourceFailure e) {
            throw new ModelException(failure(entry, source, e), e);
          }
          String sum = checksums.of(HubFolder.partial(folder), listener);
          folders.publish(source, folder, sum);
          checksums.remember(folder, sum);
          return resolved(entry, folder, sum, hub.page(source.repository()).toString());
        });
  }

  private static ResolvedModel resolved(
      Catalogue.Entry entry, Path folder, String sum, String source) {
    return new ResolvedModel(entry.name(), folder, sum, source, false);
  }

  /** The checksum of a folder that is whole and as it was fetched. */
  private Optional<String> good(Path folder, ResolveListener listener) {
    Optional<String> recorded = HubFolder.recorded(folder);
    if (recorded.isEmpty()) {
      return recorded;
    }
    try {
      if (checksums.of(folder, listener).equals(recorded.get())) {
        return recorded;
      }
    } catch (ModelException e) {
      listener.note(e.getMessage());
    }
    listener.note(folder + " is damaged; fetching it again");
    return Optional.empty();
  }

  private String failure(Catalogue.Entry entry, Source.Repository source, SourceFailure failure) {
    String gate =
        source.gated() && failure.isRefusedAccess()
            ? " Its licence (%s) has to be accepted at %s; then give a token of that account in HF_TOKEN."
                .formatted(entry.licence(), hub.page(source.repository()))
            : "";
    return "model %s can't be fetched from %s: %s; what has come is kept, and the next run goes on.%s Or give the path of a model, or weigh random weights with --model %s"
        .formatted(
            entry.name(),
            hub.page(source.repository()),
            failure.getMessage(),
            gate,
            entry.standIn());
  }
}

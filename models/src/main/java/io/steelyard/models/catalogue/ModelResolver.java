package io.steelyard.models.catalogue;

import io.steelyard.models.ModelException;
import io.steelyard.models.UnknownNameException;
import io.steelyard.models.quantize.Scheme;
import io.steelyard.models.synth.Shape;
import io.steelyard.models.synth.Synth;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds the file of a model, fetching or making it when it is asked for the first time.
 *
 * <p>A model is named by its name in the catalogue, by {@code synth:SHAPE[:TYPE[:SEED]]}, or by the
 * path of a GGUF file or of a folder with safetensors files.
 */
public final class ModelResolver {
  /** The model that commands use when none is named. */
  public static final String DEFAULT_MODEL = "smollm2-135m-instruct";

  private final Catalogue catalogue;
  private final ModelCache cache;
  private final ModelNames names;
  private final CatalogueFiles files;
  private final CatalogueFolders folders;
  private final RandomModels random;
  private final LocalModels local;
  private final RecodedModels recoded;

  /**
   * A resolver with the built-in catalogue.
   *
   * @param environment {@code STEELYARD_CACHE}, {@code XDG_CACHE_HOME} or {@code HOME} place the
   *     cache; {@code HF_ENDPOINT} the hub, and {@code HF_TOKEN} who asks it; {@code PATH} leads to
   *     pip; the proxy variables are followed. Usually {@code System.getenv()}
   */
  public ModelResolver(Map<String, String> environment) {
    this(environment, Catalogue.bundled(), HubFetch.Patience.USUAL);
  }

  ModelResolver(Map<String, String> environment, Catalogue catalogue, HubFetch.Patience patience) {
    this.catalogue = catalogue;
    this.cache = new ModelCache(environment);
    Checksums checksums = new Checksums(cache.checksums());
    HubFetch hub = new HubFetch(environment, patience);
    names = new ModelNames(catalogue);
    files = new CatalogueFiles(cache, checksums, hub, new PipFetch(environment));
    folders = new CatalogueFolders(cache, checksums, hub);
    random = new RandomModels(cache, checksums);
    local = new LocalModels(checksums, names);
    recoded = new RecodedModels(cache, checksums);
  }

  /** Where models are kept. */
  public Path cacheDirectory() {
    return cache.directory();
  }

  /**
   * Finds a model.
   *
   * @param name a name, {@code synth:…}, or a path
   * @param listener hears what happens
   * @throws ModelException if there is none such, or it can't be fetched; the message says what was
   *     tried and what to do
   */
  public ResolvedModel resolve(String name, ResolveListener listener) {
    if (name.isBlank()) {
      throw new UnknownNameException("the model's name is empty; " + names.whatThereIs());
    }
    if (name.startsWith(SynthName.PREFIX)) {
      return random.get(SynthName.parse(name), false, listener);
    }
    Optional<Catalogue.Entry> entry = catalogue.find(name);
    return entry.isPresent() ? fetched(entry.get(), false, listener) : local.get(name, listener);
  }

  /**
   * Brings a named model into the cache.
   *
   * @param name a name or {@code synth:…}
   * @param force fetch or make it anew even if it is there
   * @param listener hears what happens
   * @throws ModelException as {@link #resolve}
   */
  public ResolvedModel pull(String name, boolean force, ResolveListener listener) {
    if (name.startsWith(SynthName.PREFIX)) {
      return random.get(SynthName.parse(name), force, listener);
    }
    Optional<Catalogue.Entry> entry = catalogue.find(name);
    if (entry.isEmpty() && Files.exists(Path.of(name))) {
      throw new UnknownNameException(
          "%s is a file already: name it as it is, for instance with --model".formatted(name));
    }
    return fetched(entry.orElseThrow(() -> names.unknown(name)), force, listener);
  }

  /** All models that have a name, and the random ones that have been made. */
  public List<ModelListing> list() {
    List<ModelListing> listings = new ArrayList<>();
    for (Catalogue.Entry entry : catalogue.entries()) {
      Path file = cache.model(entry.file());
      listings.add(
          new ModelListing(
              entry.name(),
              entry.aliases(),
              entry.bytes(),
              existing(file),
              false,
              entry.licence(),
              !entry.isFolder()));
    }
    for (Shape shape : Synth.shapes()) {
      listings.add(
          new ModelListing(
              SynthName.PREFIX + shape.name(), List.of(), -1, Optional.empty(), true, "", true));
    }
    listings.addAll(random.list());
    return listings;
  }

  /**
   * The same model in another precision: the source itself where it is stored so already, else a
   * file of the cache, made when it is asked for the first time and found by the source's checksum.
   *
   * @throws ModelException if it can't be read or written
   */
  public ResolvedModel inPrecision(
      ResolvedModel source, Scheme precision, ResolveListener listener) {
    return recoded.get(source, precision, listener);
  }

  private ResolvedModel fetched(Catalogue.Entry entry, boolean force, ResolveListener listener) {
    return entry.sources().getFirst() instanceof Source.Repository source
        ? folders.get(entry, source, force, listener)
        : files.get(entry, force, listener);
  }

  private static Optional<Path> existing(Path file) {
    return Files.exists(file) ? Optional.of(file) : Optional.empty();
  }
}

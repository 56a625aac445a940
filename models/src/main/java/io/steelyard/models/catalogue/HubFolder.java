package io.steelyard.models.catalogue;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.FileFailure;
import io.steelyard.models.FileTree;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Downloads a model that is a folder: weights in shards with their index, configuration and
 * tokenizer. All files are of one revision, and each has the checksum that the hub's own listing
 * gives it. They gather in a folder beside the final one, which takes its name when all are there;
 * an interrupted download goes on with the files, and within the file, where it stopped.
 */
final class HubFolder {
  /** What was fetched, kept beside it. */
  static final String MANIFEST = "steelyard-pull.json";

  private static final Set<String> SMALL =
      Set.of(
          "config.json",
          "generation_config.json",
          "tokenizer.json",
          "tokenizer_config.json",
          "tokenizer.model",
          "spiece.model",
          "special_tokens_map.json",
          "added_tokens.json",
          "vocab.json",
          "merges.txt",
          "chat_template.jinja");

  private static final Pattern SAFE_NAME = Pattern.compile("[\\w+-][\\w.+-]*");
  private static final Pattern REVISION = Pattern.compile("[0-9a-f]{40}");
  private static final int MOST_LISTING_BYTES = 16 << 20;
  private static final int MOST_FILES = 1024;

  /** Weights in the order of preference: the one file, or an index with shards. */
  private static final List<String> WEIGHTS = List.of("model.safetensors", "pytorch_model.bin");

  /**
   * What is to be fetched.
   *
   * @param files checksums by name, in the order of fetching
   */
  private record Listing(String revision, Map<String, FileSum> files) {}

  private final HubFetch hub;

  HubFolder(HubFetch hub) {
    this.hub = hub;
  }

  /**
   * The checksum of a folder that was fetched whole, as it was then; nothing if it wasn't.
   *
   * @param folder the final one
   */
  static Optional<String> recorded(Path folder) {
    try {
      Path manifest = folder.resolve(MANIFEST);
      return Files.isRegularFile(manifest)
          ? Optional.of(JsonMapper.shared().readTree(Files.readAllBytes(manifest)))
              .map(root -> root.path("sha256").asString(""))
              .filter(sum -> sum.length() == FileSum.Kind.SHA_256.digits)
          : Optional.empty();
    } catch (IOException | JacksonException e) {
      return Optional.empty();
    }
  }

  /**
   * Fetches all of a model.
   *
   * @param folder the final place; what is there is replaced when the new one is complete
   * @throws SourceFailure if the hub can't be reached, refuses, or has no such model
   * @throws ModelException if the cache can't be written
   */
  void fetch(Source.Repository source, Path folder, ResolveListener listener) throws SourceFailure {
    Listing listing = listing(source);
    Path partial = partial(folder);
    try {
      Files.createDirectories(partial);
      Map<String, String> had = started(partial);
      write(partial, source, listing, "");
      requireSpace(partial, listing, had);
      int number = 0;
      for (Map.Entry<String, FileSum> file : listing.files().entrySet()) {
        number++;
        Path target = partial.resolve(file.getKey());
        boolean same = file.getValue().hex().equals(had.get(file.getKey()));
        if (!same) {
          // Of another revision, or nobody knows of which.
          Files.deleteIfExists(target);
          Files.deleteIfExists(partial.resolve(file.getKey() + ".part"));
        }
        if (Files.isRegularFile(target) && Files.size(target) == file.getValue().bytes()) {
          continue;
        }
        listener.note("file %d of %d: %s".formatted(number, listing.files().size(), file.getKey()));
        try (PartialFile part = new PartialFile(target, file.getValue())) {
          hub.fetch(
              hub.address(source.repository(), listing.revision(), file.getKey()), part, listener);
          part.publish();
        }
      }
      requireWhole(partial, source);
    } catch (IOException e) {
      throw unwritable(folder, e);
    }
  }

  /**
   * Gives a fetched folder its name.
   *
   * @param sum checksum of its weights
   */
  void publish(Source.Repository source, Path folder, String sum) {
    Path partial = partial(folder);
    try {
      JsonNode manifest =
          JsonMapper.shared().readTree(Files.readAllBytes(partial.resolve(MANIFEST)));
      Map<String, Object> values = new LinkedHashMap<>();
      manifest.properties().forEach(entry -> values.put(entry.getKey(), entry.getValue()));
      values.put("sha256", sum);
      writeJson(partial.resolve(MANIFEST), values);
      FileTree.delete(folder);
      Files.move(partial, folder, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw unwritable(folder, e);
    }
  }

  /** Where files gather. */
  static Path partial(Path folder) {
    return folder.resolveSibling(folder.getFileName() + ".part");
  }

  private Listing listing(Source.Repository source) throws SourceFailure {
    String models = "/api/models/" + source.repository();
    JsonNode revision = hub.json(source, models + "/revision/main", MOST_LISTING_BYTES);
    String commit = revision.path("sha").asString("");
    if (!REVISION.matcher(commit).matches()) {
      throw new SourceFailure("it gives no revision of the model");
    }
    JsonNode tree = hub.json(source, models + "/tree/" + commit, MOST_LISTING_BYTES);
    Map<String, FileSum> all = new LinkedHashMap<>();
    for (JsonNode entry : tree) {
      String name = entry.path("path").asString("");
      if (entry.path("type").asString("").equals("file") && SAFE_NAME.matcher(name).matches()) {
        all.put(name, sum(name, entry));
      }
    }
    return new Listing(commit, wanted(all));
  }

  private static FileSum sum(String name, JsonNode entry) throws SourceFailure {
    JsonNode large = entry.path("lfs");
    boolean git = !large.isObject();
    long bytes = (git ? entry : large).path("size").asLong(-1);
    String hex = (git ? entry : large).path("oid").asString("").replaceFirst("^sha256:", "");
    FileSum sum = new FileSum(git ? FileSum.Kind.GIT : FileSum.Kind.SHA_256, hex, bytes);
    if (bytes < 0 || !hex.matches("[0-9a-f]{%d}".formatted(sum.kind().digits))) {
      throw new SourceFailure(
          "its listing has no size or checksum of %s".formatted(printable(name)));
    }
    return sum;
  }

  private static Map<String, FileSum> wanted(Map<String, FileSum> all) throws SourceFailure {
    Map<String, FileSum> wanted = new LinkedHashMap<>();
    all.forEach(
        (name, sum) -> {
          if (SMALL.contains(name)) {
            wanted.put(name, sum);
          }
        });
    for (String single : WEIGHTS) {
      if (all.containsKey(single)) {
        wanted.put(single, all.get(single));
        return wanted;
      }
      if (all.containsKey(single + ".index.json")) {
        String[] name = single.split("\\.", -1);
        Pattern shard = Pattern.compile(name[0] + "-\\d{5}-of-\\d{5}\\." + name[1]);
        wanted.put(single + ".index.json", all.get(single + ".index.json"));
        all.keySet().stream()
            .filter(each -> shard.matcher(each).matches())
            .sorted()
            .limit(MOST_FILES)
            .forEach(each -> wanted.put(each, all.get(each)));
        return wanted;
      }
    }
    throw new SourceFailure(
        "the repository holds neither %s nor an index of shards".formatted(WEIGHTS.getFirst()));
  }

  /** Checksums by name of what an earlier run was fetching. */
  private static Map<String, String> started(Path partial) throws IOException {
    Map<String, String> sums = new LinkedHashMap<>();
    Path manifest = partial.resolve(MANIFEST);
    if (Files.isRegularFile(manifest)) {
      try {
        for (JsonNode file :
            JsonMapper.shared().readTree(Files.readAllBytes(manifest)).path("files")) {
          sums.put(file.path("name").asString(""), file.path("sum").asString(""));
        }
      } catch (JacksonException e) {
        // A run that was killed while it wrote: nothing is known of what is there.
      }
    }
    return sums;
  }

  private static void write(Path partial, Source.Repository source, Listing listing, String sum)
      throws IOException {
    List<Object> files = new ArrayList<>();
    listing
        .files()
        .forEach(
            (name, wanted) ->
                files.add(
                    Map.of(
                        "name",
                        name,
                        "bytes",
                        wanted.bytes(),
                        "kind",
                        wanted.kind().label,
                        "sum",
                        wanted.hex())));
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("repository", source.repository());
    values.put("revision", listing.revision());
    values.put("sha256", sum);
    values.put("files", files);
    writeJson(partial.resolve(MANIFEST), values);
  }

  private static void writeJson(Path file, Map<String, Object> values) throws IOException {
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    Files.write(fresh, JsonMapper.shared().writeValueAsBytes(values));
    Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Before the first of many gigabytes. */
  private static void requireSpace(Path partial, Listing listing, Map<String, String> had)
      throws IOException {
    long needed = 0;
    for (Map.Entry<String, FileSum> file : listing.files().entrySet()) {
      long there = 0;
      if (file.getValue().hex().equals(had.get(file.getKey()))) {
        Path target = partial.resolve(file.getKey());
        Path part = partial.resolve(file.getKey() + ".part");
        there =
            Files.exists(target) ? Files.size(target) : Files.exists(part) ? Files.size(part) : 0;
      }
      needed += Math.max(0, file.getValue().bytes() - there);
    }
    long usable = Files.getFileStore(partial).getUsableSpace();
    if (needed > usable) {
      throw new IOException(
          "%,d more bytes are needed and %,d are free there".formatted(needed, usable));
    }
  }

  /** An index may promise shards that the listing doesn't have. */
  private static void requireWhole(Path partial, Source.Repository source) throws SourceFailure {
    for (Path file : ModelFile.files(partial)) {
      if (!Files.isRegularFile(file)) {
        throw new SourceFailure(
            "the index of %s names %s, which the repository doesn't hold"
                .formatted(source.repository(), file.getFileName()));
      }
    }
  }

  private static ModelException unwritable(Path folder, IOException e) {
    return new ModelException(
        "%s can't be written: %s; free some space or set STEELYARD_CACHE to another directory, and run again: what is there is kept"
            .formatted(folder, FileFailure.reason(e)),
        e);
  }
}

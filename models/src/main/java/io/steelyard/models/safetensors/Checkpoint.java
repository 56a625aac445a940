package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.FileFailure;
import io.steelyard.models.MappedFile;
import io.steelyard.models.ModelException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * The tensors of a folder, in one safetensors file or in several that {@code
 * model.safetensors.index.json} lists; mapped, not copied.
 */
final class Checkpoint implements AutoCloseable {
  static final String SUFFIX = ".safetensors";
  static final String INDEX = "model.safetensors.index.json";

  private static final String SINGLE = "model.safetensors";
  private static final String PICKLE = "pytorch_model.bin";
  private static final int MOST_INDEX_BYTES = 16 << 20;
  private static final int MOST_FILES = 1024;
  private static final Pattern FILE_NAME = Pattern.compile("[\\w.+-]+\\.safetensors");

  private final Path folder;
  private final List<MappedFile> mappings;
  private final Map<String, StoredTensor> tensors;

  private Checkpoint(Path folder, List<MappedFile> mappings, Map<String, StoredTensor> tensors) {
    this.folder = folder;
    this.mappings = mappings;
    this.tensors = Collections.unmodifiableMap(tensors);
  }

  /**
   * Maps all files of a checkpoint and reads their headers.
   *
   * @param given a folder, a safetensors file in it, or its index
   * @throws ModelException naming the file that can't be read or is damaged
   */
  static Checkpoint open(Path given) {
    Path folder = folder(given);
    Optional<Map<String, String>> index = index(folder);
    List<Path> files = files(given, index);
    List<MappedFile> mappings = new ArrayList<>();
    Map<String, StoredTensor> tensors = new LinkedHashMap<>();
    try {
      for (Path file : files) {
        MappedFile mapping = MappedFile.open(file, "give a .safetensors file");
        mappings.add(mapping);
        for (StoredTensor tensor :
            mapping.read(data -> SafetensorsHeader.read(file.toString(), data))) {
          if (tensors.put(tensor.name(), tensor) != null) {
            throw new ModelException(
                "%s: tensor '%s' is in another file of the model too"
                    .formatted(file, printable(tensor.name())));
          }
          if (files.size() > 1) {
            requireListed(index.orElseThrow(), tensor.name(), file);
          }
        }
      }
      if (files.size() > 1 && tensors.size() < index.orElseThrow().size()) {
        throw missing(folder, index.get(), tensors);
      }
      return new Checkpoint(folder, mappings, tensors);
    } catch (RuntimeException | Error e) {
      mappings.forEach(MappedFile::close);
      throw e;
    }
  }

  /** The folder that a model lies in. */
  static Path folder(Path given) {
    if (Files.isDirectory(given)) {
      return given;
    }
    Path parent = given.getParent();
    return parent == null ? Path.of("") : parent;
  }

  /**
   * The files with tensors, by name.
   *
   * @throws ModelException if there are none, or the index is damaged
   */
  static List<Path> files(Path given) {
    return files(given, index(folder(given)));
  }

  private static List<Path> files(Path given, Optional<Map<String, String>> index) {
    Path folder = folder(given);
    String name = Files.isDirectory(given) ? "" : given.getFileName().toString();
    boolean single = name.endsWith(SUFFIX);
    if (index.isPresent() && (!single || index.get().containsValue(name))) {
      return new TreeSet<>(index.get().values()).stream().map(folder::resolve).toList();
    }
    if (single) {
      return List.of(given);
    }
    if (Files.exists(folder.resolve(SINGLE))) {
      return List.of(folder.resolve(SINGLE));
    }
    List<Path> all = all(folder);
    if (all.size() == 1) {
      return all;
    }
    if (all.isEmpty() && Files.exists(folder.resolve(PICKLE))) {
      throw new ModelException(
          "%s holds its weights as %s, a program that Steelyard doesn't run; take the model as .safetensors, or save it so with the transformers library"
              .formatted(given, PICKLE));
    }
    throw new ModelException(
        all.isEmpty()
            ? "%s holds no .safetensors file; give a folder with %s or a .gguf model"
                .formatted(given, SINGLE)
            : "%s holds %d .safetensors files but neither %s nor %s; name the file that is the model"
                .formatted(given, all.size(), SINGLE, INDEX));
  }

  private static List<Path> all(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.getFileName().toString().endsWith(SUFFIX)).sorted().toList();
    } catch (IOException e) {
      throw new ModelException(folder + " can't be read: " + FileFailure.reason(e), e);
    }
  }

  /** Names of files by tensor. */
  private static Optional<Map<String, String>> index(Path folder) {
    Path file = folder.resolve(INDEX);
    return JsonFile.read(file, MOST_INDEX_BYTES).map(root -> weightMap(file, root));
  }

  private static Map<String, String> weightMap(Path file, JsonNode root) {
    JsonNode map = root.path("weight_map");
    if (!map.isObject() || map.isEmpty()) {
      throw new ModelException(file + " has no 'weight_map'; fetch it again");
    }
    Map<String, String> files = HashMap.newHashMap(map.size());
    for (Map.Entry<String, JsonNode> entry : map.properties()) {
      String name = entry.getValue().isString() ? entry.getValue().asString() : "";
      // The file must lie in the folder: an index is no way to read another.
      if (!FILE_NAME.matcher(name).matches()) {
        throw new ModelException(
            "%s puts tensor '%s' into '%s', which is no .safetensors file of its folder"
                .formatted(
                    file, printable(entry.getKey()), printable(entry.getValue().toString())));
      }
      files.put(entry.getKey(), name);
    }
    long count = files.values().stream().distinct().count();
    if (count > MOST_FILES) {
      throw new ModelException(
          "%s lists %d files; at most %d make sense".formatted(file, count, MOST_FILES));
    }
    return files;
  }

  private static void requireListed(Map<String, String> index, String tensor, Path file) {
    String listed = index.get(tensor);
    if (!file.getFileName().toString().equals(listed)) {
      throw new ModelException(
          "%s holds tensor '%s', which %s doesn't say of it; fetch both again"
              .formatted(file, printable(tensor), INDEX));
    }
  }

  private static ModelException missing(
      Path folder, Map<String, String> index, Map<String, StoredTensor> tensors) {
    String first =
        new TreeSet<>(index.keySet())
            .stream().filter(name -> !tensors.containsKey(name)).findFirst().orElseThrow();
    return new ModelException(
        "%s lacks tensor '%s', which %s promises; fetch it again"
            .formatted(folder.resolve(index.get(first)), printable(first), INDEX));
  }

  Path folder() {
    return folder;
  }

  /** The number of files. */
  int count() {
    return mappings.size();
  }

  /** Bytes of all files. */
  long bytes() {
    return mappings.stream().mapToLong(mapping -> mapping.data().byteSize()).sum();
  }

  /** All tensors in the order of the files. */
  Collection<StoredTensor> tensors() {
    return tensors.values();
  }

  void checkUnchanged() {
    mappings.forEach(MappedFile::checkUnchanged);
  }

  @Override
  public void close() {
    mappings.forEach(MappedFile::close);
  }
}

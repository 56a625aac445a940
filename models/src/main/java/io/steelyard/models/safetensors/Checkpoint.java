package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.FileFailure;
import io.steelyard.models.MappedFile;
import io.steelyard.models.ModelException;
import io.steelyard.models.pickle.TorchFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
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
 * The tensors of a folder, in one file or in several that an index lists; mapped, not copied. Where
 * there are both, safetensors files are taken before PyTorch's.
 */
final class Checkpoint implements AutoCloseable {
  private static final int MOST_INDEX_BYTES = 16 << 20;
  private static final int MOST_FILES = 1024;

  /** What the files of a checkpoint are. */
  enum Format {
    SAFETENSORS("safetensors", ".safetensors", "model.safetensors", "[\\w.+-]+\\.safetensors"),
    PYTORCH("PyTorch pickle", ".bin", "pytorch_model.bin", "pytorch_model[\\w.+-]*\\.bin");

    private final String label;
    private final String suffix;
    private final String single;
    private final Pattern names;

    Format(String label, String suffix, String single, String names) {
      this.label = label;
      this.suffix = suffix;
      this.single = single;
      this.names = Pattern.compile(names);
    }

    private String index() {
      return single + ".index.json";
    }

    /** Whether a file of this name is part of a checkpoint of this format. */
    boolean owns(String name) {
      return names.matcher(name).matches() || name.equals(index());
    }

    /** The format of a file, or of the files in a folder. */
    private static Format of(Path given) {
      if (!Files.isDirectory(given)) {
        return PYTORCH.owns(given.getFileName().toString()) ? PYTORCH : SAFETENSORS;
      }
      boolean pickles =
          (Files.exists(given.resolve(PYTORCH.single))
                  || Files.exists(given.resolve(PYTORCH.index())))
              && !Files.exists(given.resolve(SAFETENSORS.index()))
              && SAFETENSORS.all(given).isEmpty();
      return pickles ? PYTORCH : SAFETENSORS;
    }

    private List<Path> all(Path folder) {
      try (Stream<Path> files = Files.list(folder)) {
        return files
            .filter(file -> file.getFileName().toString().endsWith(suffix))
            .sorted()
            .toList();
      } catch (IOException e) {
        throw new ModelException(folder + " can't be read: " + FileFailure.reason(e), e);
      }
    }

    private List<StoredTensor> read(String source, MemorySegment data) {
      return switch (this) {
        case SAFETENSORS -> SafetensorsHeader.read(source, data);
        case PYTORCH ->
            TorchFile.read(source, data).stream()
                .map(
                    tensor ->
                        new StoredTensor(
                            tensor.name(),
                            ElementType.named(tensor.type()).orElseThrow(),
                            tensor.shape(),
                            tensor.data()))
                .toList();
      };
    }
  }

  private final Path folder;
  private final Format format;
  private final List<MappedFile> mappings;
  private final Map<String, StoredTensor> tensors;

  private Checkpoint(
      Path folder, Format format, List<MappedFile> mappings, Map<String, StoredTensor> tensors) {
    this.folder = folder;
    this.format = format;
    this.mappings = mappings;
    this.tensors = Collections.unmodifiableMap(tensors);
  }

  /**
   * Maps all files of a checkpoint and reads their headers.
   *
   * @param given a folder, a file with tensors in it, or its index
   * @throws ModelException naming the file that can't be read or is damaged
   */
  static Checkpoint open(Path given) {
    Path folder = folder(given);
    Format format = Format.of(given);
    Optional<Map<String, String>> index = index(folder, format);
    List<Path> files = files(given, format, index);
    List<MappedFile> mappings = new ArrayList<>();
    Map<String, StoredTensor> tensors = new LinkedHashMap<>();
    try {
      for (Path file : files) {
        MappedFile mapping = MappedFile.open(file, "give a %s file".formatted(format.suffix));
        mappings.add(mapping);
        for (StoredTensor tensor : mapping.read(data -> format.read(file.toString(), data))) {
          if (tensors.put(tensor.name(), tensor) != null) {
            throw new ModelException(
                "%s: tensor '%s' is in another file of the model too"
                    .formatted(file, printable(tensor.name())));
          }
          if (files.size() > 1) {
            requireListed(format, index.orElseThrow(), tensor.name(), file);
          }
        }
      }
      if (files.size() > 1 && tensors.size() < index.orElseThrow().size()) {
        throw missing(folder, format, index.get(), tensors);
      }
      return new Checkpoint(folder, format, mappings, tensors);
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
    Format format = Format.of(given);
    return files(given, format, index(folder(given), format));
  }

  private static List<Path> files(Path given, Format format, Optional<Map<String, String>> index) {
    Path folder = folder(given);
    String name = Files.isDirectory(given) ? "" : given.getFileName().toString();
    boolean single = name.endsWith(format.suffix);
    if (index.isPresent() && (!single || index.get().containsValue(name))) {
      return new TreeSet<>(index.get().values()).stream().map(folder::resolve).toList();
    }
    if (single) {
      return List.of(given);
    }
    if (Files.exists(folder.resolve(format.single))) {
      return List.of(folder.resolve(format.single));
    }
    List<Path> all = format.all(folder);
    if (all.size() == 1) {
      return all;
    }
    throw new ModelException(
        all.isEmpty()
            ? "%s holds no .safetensors file; give a folder with %s or a .gguf model"
                .formatted(given, format.single)
            : "%s holds %d %s files but neither %s nor %s; name the file that is the model"
                .formatted(given, all.size(), format.suffix, format.single, format.index()));
  }

  /** Names of files by tensor. */
  private static Optional<Map<String, String>> index(Path folder, Format format) {
    Path file = folder.resolve(format.index());
    return JsonFile.read(file, MOST_INDEX_BYTES).map(root -> weightMap(file, format, root));
  }

  private static Map<String, String> weightMap(Path file, Format format, JsonNode root) {
    JsonNode map = root.path("weight_map");
    if (!map.isObject() || map.isEmpty()) {
      throw new ModelException(file + " has no 'weight_map'; fetch it again");
    }
    Map<String, String> files = HashMap.newHashMap(map.size());
    for (Map.Entry<String, JsonNode> entry : map.properties()) {
      String name = entry.getValue().isString() ? entry.getValue().asString() : "";
      // The file must lie in the folder: an index is no way to read another.
      if (!format.names.matcher(name).matches()) {
        throw new ModelException(
            "%s puts tensor '%s' into '%s', which is no %s file of its folder"
                .formatted(
                    file,
                    printable(entry.getKey()),
                    printable(entry.getValue().toString()),
                    format.suffix));
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

  private static void requireListed(
      Format format, Map<String, String> index, String tensor, Path file) {
    String listed = index.get(tensor);
    if (!file.getFileName().toString().equals(listed)) {
      throw new ModelException(
          "%s holds tensor '%s', which %s doesn't say of it; fetch both again"
              .formatted(file, printable(tensor), format.index()));
    }
  }

  private static ModelException missing(
      Path folder, Format format, Map<String, String> index, Map<String, StoredTensor> tensors) {
    String first =
        new TreeSet<>(index.keySet())
            .stream().filter(name -> !tensors.containsKey(name)).findFirst().orElseThrow();
    return new ModelException(
        "%s lacks tensor '%s', which %s promises; fetch it again"
            .formatted(folder.resolve(index.get(first)), printable(first), format.index()));
  }

  Path folder() {
    return folder;
  }

  /** For people: "safetensors, 2 files". */
  String description() {
    int files = mappings.size();
    return format.label + (files == 1 ? ", 1 file" : ", %d files".formatted(files));
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

package io.steelyard.models.safetensors;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.gguf.GgufWriter;
import io.steelyard.models.gguf.Metadata;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.AbstractCollection;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A folder of safetensors files, or of PyTorch's pickled ones, as GGUF describes models. Matrices
 * that GGUF stores in the same bits stay where they are mapped; what has another order or type is
 * converted when it is asked for, once.
 */
public final class SafetensorsModel implements ModelFile {
  private final Path path;
  private final Checkpoint checkpoint;
  private final Metadata metadata;
  private final Map<String, ConvertedTensor> converted;
  private final Arena arena = Arena.ofShared();
  private final Map<String, Tensor> made = new ConcurrentHashMap<>();

  private SafetensorsModel(
      Path path, Checkpoint checkpoint, Metadata metadata, Map<String, ConvertedTensor> converted) {
    this.path = path;
    this.checkpoint = checkpoint;
    this.metadata = metadata;
    this.converted = converted;
  }

  /** Whether a path leads to such a model (a folder, a file or an index) and not to a GGUF file. */
  public static boolean isSafetensors(Path path) {
    String name = path.getFileName() == null ? "" : path.getFileName().toString();
    return Files.isDirectory(path)
        || name.endsWith(".safetensors")
        || Arrays.stream(Checkpoint.Format.values()).anyMatch(format -> format.owns(name));
  }

  /**
   * The files with a model's tensors, by name.
   *
   * @throws ModelException if there are none, or their index is damaged
   */
  public static List<Path> files(Path path) {
    return Checkpoint.files(path);
  }

  /**
   * Opens a model with its weights in the types that they are stored in: F64 and integers become
   * F32, eight-bit floats BF16, and vectors F32 as in every GGUF file.
   *
   * @param path a folder, or a safetensors file or index in it
   * @throws ModelException naming the file that is missing, damaged, or of an unsupported kind
   */
  public static SafetensorsModel open(Path path) {
    return open(path, Optional.empty());
  }

  /**
   * Opens a model with its matrices in a given type, F16 where rows are no multiple of its blocks.
   *
   * @param type one that {@link io.steelyard.kernels.codec.Encoder} writes
   * @throws ModelException as {@link #open(Path)}
   */
  public static SafetensorsModel open(Path path, DataType type) {
    return open(path, Optional.of(type));
  }

  private static SafetensorsModel open(Path path, Optional<DataType> type) {
    CheckpointConfig config = CheckpointConfig.read(Checkpoint.folder(path));
    Family family = Family.of(config);
    Checkpoint checkpoint = Checkpoint.open(path);
    try {
      Map<String, Object> tokenizer = TokenizerMetadata.of(checkpoint.folder(), config, family);
      int vocabulary =
          tokenizer.get("tokenizer.ggml.tokens") instanceof List<?> tokens ? tokens.size() : 0;
      Map<String, ConvertedTensor> converted =
          TensorPlan.of(checkpoint, config, family, type, vocabulary);
      Map<String, Object> values =
          ModelMetadata.of(
              config,
              family,
              name(checkpoint.folder(), config),
              type.orElseGet(() -> mostly(converted)));
      values.putAll(tokenizer);
      return new SafetensorsModel(
          path, checkpoint, new Metadata(path.toString(), values), converted);
    } catch (RuntimeException | Error e) {
      checkpoint.close();
      throw e;
    }
  }

  private static String name(Path folder, CheckpointConfig config) {
    Path named = folder.toAbsolutePath().normalize().getFileName();
    return config
        .string("_name_or_path")
        .filter(name -> !name.isBlank())
        .orElse(String.valueOf(named));
  }

  private static DataType mostly(Map<String, ConvertedTensor> tensors) {
    return bytesByType(tensors.values()).entrySet().stream()
        .max(Map.Entry.comparingByValue())
        .map(Map.Entry::getKey)
        .orElse(DataType.F32);
  }

  private static Map<DataType, Long> bytesByType(Collection<ConvertedTensor> tensors) {
    Map<DataType, Long> bytes = new EnumMap<>(DataType.class);
    tensors.forEach(tensor -> bytes.merge(tensor.type(), tensor.bytes(), Long::sum));
    return Collections.unmodifiableMap(bytes);
  }

  /**
   * Writes the model as a GGUF file; see {@link GgufWriter#write}.
   *
   * @throws ModelException if it can't be written, or the weights changed meanwhile
   */
  public void writeGguf(Path out, ProgressListener listener) {
    GgufWriter writer = new GgufWriter(metadata);
    converted
        .values()
        .forEach(tensor -> writer.add(tensor.name(), tensor.type(), tensor.dimensions(), tensor));
    try {
      writer.write(out, listener, this::checkUnchanged);
    } catch (InternalError e) {
      // How the JVM reports that a mapped page is gone.
      throw new ModelException(
          path + " was cut short while it was being read; start again when it is complete", e);
    }
  }

  @Override
  public Path path() {
    return path;
  }

  @Override
  public String format() {
    return checkpoint.description();
  }

  @Override
  public long fileSize() {
    return checkpoint.bytes();
  }

  @Override
  public Metadata metadata() {
    return metadata;
  }

  @Override
  public Collection<Tensor> tensors() {
    return new AbstractCollection<>() {
      @Override
      public Iterator<Tensor> iterator() {
        return converted.keySet().stream().map(name -> require(name)).iterator();
      }

      @Override
      public int size() {
        return converted.size();
      }
    };
  }

  @Override
  public Collection<String> tensorNames() {
    return converted.keySet();
  }

  @Override
  public Optional<Tensor> tensor(String name) {
    return converted.containsKey(name)
        ? Optional.of(made.computeIfAbsent(name, key -> converted.get(key).in(arena)))
        : Optional.empty();
  }

  @Override
  public long[] dimensions(String name) {
    require(name);
    return converted.get(name).dimensions().clone();
  }

  @Override
  public Map<DataType, Long> bytesByType() {
    return bytesByType(converted.values());
  }

  @Override
  public Map<String, Long> bytesByTensor() {
    Map<String, Long> bytes = LinkedHashMap.newLinkedHashMap(converted.size());
    converted.forEach((name, tensor) -> bytes.put(name, tensor.bytes()));
    return bytes;
  }

  @Override
  public long parameters() {
    return converted.values().stream().mapToLong(ConvertedTensor::values).sum();
  }

  @Override
  public void checkUnchanged() {
    checkpoint.checkUnchanged();
  }

  /** Unmaps the files and frees what was converted. */
  @Override
  public void close() {
    arena.close();
    checkpoint.close();
  }
}

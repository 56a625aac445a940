package io.steelyard.models.gguf;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.MappedFile;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A GGUF model file, mapped into memory and read only. Opening it reads the header alone; the
 * operating system brings tensor pages in when they are touched.
 */
public final class GgufFile implements ModelFile {
  private final Path path;
  private final Optional<MappedFile> mapping;
  private final long size;
  private final int version;
  private final Metadata metadata;
  private final Map<String, Tensor> tensors;
  private final Map<String, long[]> dimensions = new HashMap<>();

  private GgufFile(Path path, Optional<MappedFile> mapping, MemorySegment data) {
    this.path = path;
    this.mapping = mapping;
    this.size = data.byteSize();
    HeaderReader.Header header = new HeaderReader(path.toString(), data).read();
    this.version = header.version();
    this.metadata = header.metadata();
    Map<String, HeaderReader.Description> described = new HashMap<>();
    for (HeaderReader.Description tensor : header.tensors()) {
      described.put(tensor.name(), tensor);
      dimensions.put(
          tensor.name(), tensor.dimensions().length == 0 ? new long[] {1} : tensor.dimensions());
    }
    Map<String, Tensor> byName = LinkedHashMap.newLinkedHashMap(header.tensors().size());
    for (HeaderReader.Description tensor : header.tensors()) {
      HeaderReader.Description beside = described.get(TensorScales.name(tensor.name()));
      MemorySegment scales =
          TensorScales.of(path.toString(), tensor, beside)
              .map(found -> data.asSlice(found.offset(), found.bytes()))
              .orElse(Tensor.NOTHING);
      byName.put(
          tensor.name(),
          new Tensor(
              tensor.name(),
              tensor.type(),
              tensor.columns(),
              tensor.rows(),
              data.asSlice(tensor.offset(), tensor.bytes()),
              scales));
    }
    this.tensors = Collections.unmodifiableMap(byName);
  }

  /**
   * Maps a file and reads its header.
   *
   * @throws ModelException if it can't be read, is no GGUF file of version 2 or 3, is damaged, or
   *     holds a tensor of a type that Steelyard doesn't read
   */
  public static GgufFile open(Path path) {
    MappedFile file = MappedFile.open(path, "give a .gguf model");
    return file.read(data -> new GgufFile(path, Optional.of(file), data));
  }

  /**
   * Reads a model that is in memory already. Closing it leaves the memory alone.
   *
   * @param data the whole file
   * @param name what messages call it
   * @throws ModelException as {@link #open}
   */
  public static GgufFile of(MemorySegment data, String name) {
    return new GgufFile(Path.of(name), Optional.empty(), data.asReadOnly());
  }

  @Override
  public Path path() {
    return path;
  }

  @Override
  public String format() {
    return "GGUF version " + version;
  }

  @Override
  public long fileSize() {
    return size;
  }

  /** Version of the format, 2 or 3. */
  public int version() {
    return version;
  }

  @Override
  public Metadata metadata() {
    return metadata;
  }

  @Override
  public Collection<Tensor> tensors() {
    return tensors.values();
  }

  @Override
  public Collection<String> tensorNames() {
    return tensors.keySet();
  }

  @Override
  public Optional<Tensor> tensor(String name) {
    return Optional.ofNullable(tensors.get(name));
  }

  @Override
  public long[] dimensions(String name) {
    require(name);
    return dimensions.get(name).clone();
  }

  @Override
  public Tensor require(String name) {
    Tensor tensor = tensors.get(name);
    long parts = tensor == null ? metadata.integer("split.count", 1) : 1;
    if (parts > 1) {
      throw new ModelException(
          "%s has no tensor '%s'; it is one of %d parts: merge them with llama-gguf-split --merge"
              .formatted(path, name, parts));
    }
    return ModelFile.super.require(name);
  }

  @Override
  public Map<DataType, Long> bytesByType() {
    Map<DataType, Long> bytes = new EnumMap<>(DataType.class);
    tensors.values().forEach(t -> bytes.merge(t.type(), t.data().byteSize(), Long::sum));
    return Collections.unmodifiableMap(bytes);
  }

  @Override
  public long parameters() {
    return tensors.values().stream().mapToLong(t -> t.rows() * t.columns()).sum();
  }

  @Override
  public void checkUnchanged() {
    mapping.ifPresent(MappedFile::checkUnchanged);
  }

  /** Unmaps the file. */
  @Override
  public void close() {
    mapping.ifPresent(MappedFile::close);
  }
}

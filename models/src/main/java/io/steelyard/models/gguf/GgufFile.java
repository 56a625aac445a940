package io.steelyard.models.gguf;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.MappedFile;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A GGUF model, in one file or in several shards, mapped into memory and read only. Opening it
 * reads the headers alone; the operating system brings tensor pages in when they are touched.
 */
public final class GgufFile implements ModelFile {
  private final Path path;
  private final List<MappedFile> mappings;
  private final int files;
  private final long size;
  private final int version;
  private final Metadata metadata;
  private final Map<String, Tensor> tensors;
  private final Map<String, long[]> dimensions = new HashMap<>();

  private GgufFile(
      Path path,
      List<MappedFile> mappings,
      List<MemorySegment> data,
      List<HeaderReader.Header> headers) {
    this.path = path;
    this.mappings = mappings;
    this.files = data.size();
    this.size = data.stream().mapToLong(MemorySegment::byteSize).sum();
    this.version = headers.getFirst().version();
    this.metadata = headers.getFirst().metadata();
    // A tensor's scales may lie in another file than the tensor.
    Map<String, HeaderReader.Description> described = new HashMap<>();
    Map<String, MemorySegment> bytes = new HashMap<>();
    Map<String, Tensor> byName = new LinkedHashMap<>();
    for (int i = 0; i < files; i++) {
      for (HeaderReader.Description tensor : headers.get(i).tensors()) {
        described.put(tensor.name(), tensor);
        bytes.put(tensor.name(), data.get(i).asSlice(tensor.offset(), tensor.bytes()));
        dimensions.put(
            tensor.name(), tensor.dimensions().length == 0 ? new long[] {1} : tensor.dimensions());
      }
    }
    for (HeaderReader.Header header : headers) {
      for (HeaderReader.Description tensor : header.tensors()) {
        String beside = TensorScales.name(tensor.name());
        MemorySegment scales =
            TensorScales.of(path.toString(), tensor, described.get(beside))
                .map(found -> bytes.get(found.name()))
                .orElse(Tensor.NOTHING);
        byName.put(
            tensor.name(),
            new Tensor(
                tensor.name(),
                tensor.type(),
                tensor.columns(),
                tensor.rows(),
                bytes.get(tensor.name()),
                scales));
      }
    }
    this.tensors = Collections.unmodifiableMap(byName);
  }

  /**
   * Maps a file and reads its header; of a model in several files, all of them, whichever is given.
   *
   * @throws ModelException if it can't be read, is no GGUF file of version 2 or 3, is damaged,
   *     holds a tensor of a type that Steelyard doesn't read, or is a shard of which another is
   *     missing or of another model
   */
  public static GgufFile open(Path path) {
    List<Path> files = files(path);
    List<MappedFile> mappings = new ArrayList<>();
    List<HeaderReader.Header> headers = new ArrayList<>();
    try {
      for (Path file : files) {
        MappedFile mapping = MappedFile.open(file, "give a .gguf model");
        mappings.add(mapping);
        headers.add(mapping.readApart(data -> new HeaderReader(file.toString(), data).read()));
      }
      Shards.check(files, headers);
      return new GgufFile(
          files.getFirst(),
          List.copyOf(mappings),
          mappings.stream().map(MappedFile::data).toList(),
          headers);
    } catch (RuntimeException | Error e) {
      mappings.forEach(MappedFile::close);
      throw e;
    }
  }

  /**
   * The files of the model that a file belongs to, in order.
   *
   * @throws ModelException if one is missing
   */
  public static List<Path> files(Path path) {
    return Shards.files(path);
  }

  /**
   * Reads a model that is in memory already. Closing it leaves the memory alone.
   *
   * @param data the whole file
   * @param name what messages call it
   * @throws ModelException as {@link #open}
   */
  public static GgufFile of(MemorySegment data, String name) {
    MemorySegment readOnly = data.asReadOnly();
    Path path = Path.of(name);
    List<HeaderReader.Header> headers = List.of(new HeaderReader(name, readOnly).read());
    Shards.check(List.of(path), headers);
    return new GgufFile(path, List.of(), List.of(readOnly), headers);
  }

  @Override
  public Path path() {
    return path;
  }

  @Override
  public String format() {
    return "GGUF version " + version + (files == 1 ? "" : ", %d files".formatted(files));
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
  public Map<DataType, Long> bytesByType() {
    Map<DataType, Long> bytes = new EnumMap<>(DataType.class);
    tensors.values().forEach(t -> bytes.merge(t.type(), t.data().byteSize(), Long::sum));
    return Collections.unmodifiableMap(bytes);
  }

  @Override
  public Map<String, Long> bytesByTensor() {
    Map<String, Long> bytes = LinkedHashMap.newLinkedHashMap(tensors.size());
    tensors.forEach((name, tensor) -> bytes.put(name, tensor.data().byteSize()));
    return bytes;
  }

  @Override
  public long parameters() {
    return tensors.values().stream().mapToLong(t -> t.rows() * t.columns()).sum();
  }

  @Override
  public void checkUnchanged() {
    mappings.forEach(MappedFile::checkUnchanged);
  }

  /** Unmaps the files. */
  @Override
  public void close() {
    mappings.forEach(MappedFile::close);
  }
}

package io.steelyard.models.gguf;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.FileFailure;
import io.steelyard.models.ModelException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A GGUF model file, mapped into memory and read only. Opening it reads the header alone; the
 * operating system brings tensor pages in when they are touched.
 *
 * <p>Closing unmaps the file: the data of its tensors can't be read after that, its {@link
 * #metadata} can. A mapping follows the file on disk. Replacing the file by renaming another over
 * it is harmless; cutting or overwriting it in place while it is open isn't, and {@link
 * #checkUnchanged} tells.
 */
public final class GgufFile implements AutoCloseable {
  private final Path path;
  private final Optional<BasicFileAttributes> opened;
  private final Optional<Arena> arena;
  private final long size;
  private final int version;
  private final Metadata metadata;
  private final Map<String, Tensor> tensors;

  private GgufFile(
      Path path, Optional<BasicFileAttributes> opened, Optional<Arena> arena, MemorySegment data) {
    this.path = path;
    this.opened = opened;
    this.arena = arena;
    this.size = data.byteSize();
    HeaderReader.Header header = new HeaderReader(path.toString(), data).read();
    this.version = header.version();
    this.metadata = header.metadata();
    Map<String, Tensor> byName = LinkedHashMap.newLinkedHashMap(header.tensors().size());
    for (HeaderReader.Description tensor : header.tensors()) {
      byName.put(
          tensor.name(),
          new Tensor(
              tensor.name(),
              tensor.type(),
              tensor.columns(),
              tensor.rows(),
              data.asSlice(tensor.offset(), tensor.bytes())));
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
    Arena arena = Arena.ofShared();
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
      if (!attributes.isRegularFile()) {
        throw new ModelException(path + " is not a file; give a .gguf model");
      }
      MemorySegment data = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
      return new GgufFile(path, Optional.of(attributes), Optional.of(arena), data);
    } catch (IOException e) {
      arena.close();
      throw new ModelException(path + " can't be read: " + FileFailure.reason(e), e);
    } catch (InternalError e) {
      // How the JVM reports that a mapped page is gone.
      arena.close();
      throw new ModelException(
          path + " was cut short while it was being read; start again when it is complete", e);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  /**
   * Reads a model that is in memory already. Closing it leaves the memory alone.
   *
   * @param data the whole file
   * @param name what messages call it
   * @throws ModelException as {@link #open}
   */
  public static GgufFile of(MemorySegment data, String name) {
    return new GgufFile(Path.of(name), Optional.empty(), Optional.empty(), data.asReadOnly());
  }

  /** The file as it was given. */
  public Path path() {
    return path;
  }

  /** Bytes of the file when it was opened. */
  public long fileSize() {
    return size;
  }

  /** Version of the format, 2 or 3. */
  public int version() {
    return version;
  }

  /** The key-value part. */
  public Metadata metadata() {
    return metadata;
  }

  /** All tensors in the order of the header. */
  public Collection<Tensor> tensors() {
    return tensors.values();
  }

  /** Names of all tensors in the order of the header. */
  public Collection<String> tensorNames() {
    return tensors.keySet();
  }

  /**
   * A tensor: the contiguous dimension as columns, the product of all others as rows; its data lies
   * in the mapped file.
   */
  public Optional<Tensor> tensor(String name) {
    return Optional.ofNullable(tensors.get(name));
  }

  /**
   * A tensor that must be there.
   *
   * @throws ModelException if it isn't
   */
  public Tensor require(String name) {
    Tensor tensor = tensors.get(name);
    if (tensor == null) {
      long parts = metadata.integer("split.count", 1);
      String advice =
          parts > 1
              ? "it is one of %d parts: merge them with llama-gguf-split --merge".formatted(parts)
              : "the model needs it";
      throw new ModelException("%s has no tensor '%s'; %s".formatted(path, name, advice));
    }
    return tensor;
  }

  /** Bytes of tensor data by type, in the order of {@link DataType}. */
  public Map<DataType, Long> bytesByType() {
    Map<DataType, Long> bytes = new EnumMap<>(DataType.class);
    tensors.values().forEach(t -> bytes.merge(t.type(), t.data().byteSize(), Long::sum));
    return Collections.unmodifiableMap(bytes);
  }

  /** Number of weights in all tensors. */
  public long parameters() {
    return tensors.values().stream().mapToLong(t -> t.rows() * t.columns()).sum();
  }

  /**
   * Makes sure that the mapped file is still the one that was opened; to be called after loading,
   * or when a result is suspect.
   *
   * @throws ModelException if it was overwritten, cut, or replaced
   */
  public void checkUnchanged() {
    if (opened.isEmpty()) {
      return;
    }
    try {
      BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class);
      if (now.size() != opened.get().size()
          || !now.lastModifiedTime().equals(opened.get().lastModifiedTime())) {
        throw new ModelException(path + " was changed while it was in use; run again");
      }
    } catch (IOException e) {
      throw new ModelException(
          path + " disappeared while it was in use: " + FileFailure.reason(e), e);
    }
  }

  /** Unmaps the file. */
  @Override
  public void close() {
    arena.ifPresent(Arena::close);
  }
}

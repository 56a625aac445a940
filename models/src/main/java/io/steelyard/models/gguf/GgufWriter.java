package io.steelyard.models.gguf;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.FileFailure;
import io.steelyard.models.ModelException;
import io.steelyard.models.ProgressListener;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * Writes a GGUF file of version 3. Tensor data is asked for in parts, several at a time, so that a
 * model of any size passes through little memory.
 *
 * <p>The file appears under its name when it is complete, by renaming; a failure leaves nothing.
 */
public final class GgufWriter {
  /** Small enough that a heap region holds it, large enough that a call is cheap. */
  private static final int PART_BYTES = 256 << 10;

  /** Where the data of a tensor comes from. Parts are asked for in any order, by any thread. */
  @FunctionalInterface
  public interface Content {
    /**
     * Fills a part.
     *
     * @param from the part's first byte in the tensor's data, at the start of a block
     * @param part the bytes to fill, whole blocks
     */
    void fill(long from, MemorySegment part);
  }

  private record Entry(DataType type, long[] dimensions, long bytes, Content content) {}

  private record Placed(Entry entry, long offset) {}

  private final Metadata metadata;
  private final int alignment;
  private final Map<String, Entry> tensors = new LinkedHashMap<>();

  /** A file with this metadata; {@code general.alignment} in it is followed. */
  public GgufWriter(Metadata metadata) {
    this.metadata = metadata;
    this.alignment =
        Math.toIntExact(
            metadata.integer(HeaderReader.ALIGNMENT_KEY, HeaderReader.DEFAULT_ALIGNMENT));
  }

  /**
   * Adds a tensor.
   *
   * @param name unique name
   * @param type element type
   * @param dimensions one to four sizes, the contiguous one first
   * @param content its data
   * @return this
   * @throws IllegalArgumentException if the name is taken or the shape isn't possible
   */
  public GgufWriter add(String name, DataType type, long[] dimensions, Content content) {
    if (dimensions.length < 1 || dimensions.length > 4) {
      throw new IllegalArgumentException(name + " has " + dimensions.length + " dimensions");
    }
    long rows = 1;
    for (int d = 1; d < dimensions.length; d++) {
      rows = Math.multiplyExact(rows, dimensions[d]);
    }
    if (rows < 1 || dimensions[0] < 1) {
      throw new IllegalArgumentException(name + " is empty");
    }
    long bytes = Math.multiplyExact(rows, type.bytes(dimensions[0]));
    if (tensors.putIfAbsent(name, new Entry(type, dimensions.clone(), bytes, content)) != null) {
      throw new IllegalArgumentException("there is a tensor " + name + " already");
    }
    return this;
  }

  /** Adds a copy of a tensor as a vector or matrix. */
  public GgufWriter add(Tensor tensor) {
    long[] dimensions =
        tensor.rows() == 1
            ? new long[] {tensor.columns()}
            : new long[] {tensor.columns(), tensor.rows()};
    return add(
        tensor.name(),
        tensor.type(),
        dimensions,
        (from, part) -> part.copyFrom(tensor.data().asSlice(from, part.byteSize())));
  }

  /**
   * Writes the file, replacing one of that name.
   *
   * @param out where to; its directory must be there
   * @param listener hears bytes of tensors written
   * @throws ModelException if it can't be written, above all for want of space
   */
  public void write(Path out, ProgressListener listener) {
    write(out, listener, () -> {});
  }

  /**
   * Writes the file, replacing one of that name.
   *
   * @param out where to; its directory must be there
   * @param listener hears bytes of tensors written
   * @param check runs when all is written; what it throws keeps the file from appearing
   * @throws ModelException if it can't be written, above all for want of space
   */
  public void write(Path out, ProgressListener listener, Runnable check) {
    Path target = out.toAbsolutePath();
    Path partial =
        target.resolveSibling(
            "%s.%d-%x.part"
                .formatted(target.getFileName(), ProcessHandle.current().pid(), System.nanoTime()));
    Runtime runtime = Runtime.getRuntime();
    // Ctrl-C ends the JVM without running `finally`.
    Thread cleaner = new Thread(() -> deleteQuietly(partial));
    runtime.addShutdownHook(cleaner);
    long size = 0;
    try {
      Map<String, Placed> placed = LinkedHashMap.newLinkedHashMap(tensors.size());
      long dataBytes = place(placed);
      byte[] header = header(placed);
      size = Math.addExact(header.length, dataBytes);
      refuseFullDisk(target, size);
      try (FileChannel channel =
          FileChannel.open(partial, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW)) {
        writeFully(channel, ByteBuffer.wrap(header), 0);
        writeTensors(channel, header.length, placed, new Progress(listener, tensorBytes()));
        // The last tensor's padding belongs to the file.
        if (channel.size() < size) {
          writeFully(channel, ByteBuffer.allocate(1), size - 1);
        }
      }
      check.run();
      Files.move(
          partial, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw failure(out, size, e);
    } catch (UncheckedIOException e) {
      throw failure(out, size, e.getCause());
    } finally {
      deleteQuietly(partial);
      try {
        runtime.removeShutdownHook(cleaner);
      } catch (IllegalStateException e) {
        // The JVM is going down, and the hook runs anyway.
      }
    }
  }

  private long place(Map<String, Placed> placed) {
    long offset = 0;
    for (Map.Entry<String, Entry> tensor : tensors.entrySet()) {
      placed.put(tensor.getKey(), new Placed(tensor.getValue(), offset));
      offset = align(Math.addExact(offset, tensor.getValue().bytes()));
    }
    return offset;
  }

  private long tensorBytes() {
    return tensors.values().stream().mapToLong(Entry::bytes).sum();
  }

  /** The header, padded to where the data begins. */
  private byte[] header(Map<String, Placed> placed) {
    HeaderWriter header = new HeaderWriter(placed.size(), metadata.values().size());
    metadata.values().forEach(header::entry);
    placed.forEach(
        (name, tensor) ->
            header.tensor(
                name, tensor.entry().type().id(), tensor.entry().dimensions(), tensor.offset()));
    byte[] bytes = header.bytes();
    return Arrays.copyOf(bytes, Math.toIntExact(align(bytes.length)));
  }

  private long align(long offset) {
    return Math.addExact(offset, alignment - 1L) / alignment * alignment;
  }

  private static void writeTensors(
      FileChannel channel, long dataStart, Map<String, Placed> placed, Progress progress) {
    for (Placed tensor : placed.values()) {
      Entry entry = tensor.entry();
      long blockBytes = entry.type().blockBytes();
      long partBytes = PART_BYTES / blockBytes * blockBytes;
      long parts = Math.ceilDiv(entry.bytes(), partBytes);
      LongStream.range(0, parts)
          .parallel()
          .forEach(
              part -> {
                long from = part * partBytes;
                byte[] bytes = new byte[(int) Math.min(partBytes, entry.bytes() - from)];
                entry.content().fill(from, MemorySegment.ofArray(bytes));
                try {
                  writeFully(channel, ByteBuffer.wrap(bytes), dataStart + tensor.offset() + from);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
                progress.add(bytes.length);
              });
    }
  }

  private static void writeFully(FileChannel channel, ByteBuffer bytes, long position)
      throws IOException {
    while (bytes.hasRemaining()) {
      position += channel.write(bytes, position);
    }
  }

  /** Gigabytes are not written in vain. */
  private static void refuseFullDisk(Path target, long size) throws IOException {
    Path directory = target.getParent();
    if (directory == null || !Files.isDirectory(directory)) {
      throw new IOException("there is no directory " + directory);
    }
    long usable = Files.getFileStore(directory).getUsableSpace();
    if (size > usable) {
      throw new IOException("only %,d bytes are free there".formatted(usable));
    }
  }

  private static ModelException failure(Path out, long size, IOException e) {
    return new ModelException(
        "%s (%,d bytes) can't be written: %s; free some space or choose another place"
            .formatted(out, size, FileFailure.reason(e)),
        e);
  }

  private static void deleteQuietly(Path partial) {
    try {
      Files.deleteIfExists(partial);
    } catch (IOException e) {
      // The failure that led here is what the user has to hear.
    }
  }

  /** Adds up what several threads have written. */
  private static final class Progress {
    private final ProgressListener listener;
    private final long total;
    private long done;

    Progress(ProgressListener listener, long total) {
      this.listener = listener;
      this.total = total;
    }

    synchronized void add(long bytes) {
      done += bytes;
      listener.progress(done, total);
    }
  }
}

package io.steelyard.lab.worker;

import io.steelyard.lab.worker.EngineException.Kind;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Writes rows of float32 values to a file, little-endian, one after the other. */
final class FileRowSink implements RowSink, AutoCloseable {
  private static final ValueLayout.OfInt LITTLE =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final ValueLayout.OfInt NATIVE = ValueLayout.JAVA_INT_UNALIGNED;

  private final FileChannel file;
  private ByteBuffer buffer = ByteBuffer.allocateDirect(0);
  private long rows;
  private int width;

  private FileRowSink(FileChannel file) {
    this.file = file;
  }

  static FileRowSink create(String path) throws EngineException, IOException {
    try {
      return new FileRowSink(
          FileChannel.open(
              Path.of(path),
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE));
    } catch (InvalidPathException e) {
      throw new EngineException(Kind.BAD_REQUEST, "file '" + path + "' is no path", e);
    }
  }

  @Override
  public void row(MemorySegment row) throws IOException {
    int values = Math.toIntExact(row.byteSize() / Float.BYTES);
    if (rows > 0 && values != width) {
      throw new IllegalStateException("row " + rows + " has " + values + " values, not " + width);
    }
    width = values;
    rows++;
    if (buffer.capacity() != row.byteSize()) {
      buffer = ByteBuffer.allocateDirect(Math.toIntExact(row.byteSize()));
    }
    // Copied, since a row may lie in an array of floats, which no channel takes.
    MemorySegment.copy(row, NATIVE, 0, MemorySegment.ofBuffer(buffer.clear()), LITTLE, 0, values);
    while (buffer.hasRemaining()) {
      file.write(buffer);
    }
  }

  /** Refuses an engine's work that has another number of rows than it must. */
  void expectRows(long expected) {
    if (rows != expected) {
      throw new IllegalStateException("the engine gave " + rows + " rows, not " + expected);
    }
  }

  long rows() {
    return rows;
  }

  int width() {
    return width;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}

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

  private final FileChannel file;
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
    ByteBuffer bytes = littleEndian(row).asByteBuffer();
    while (bytes.hasRemaining()) {
      file.write(bytes);
    }
  }

  private static MemorySegment littleEndian(MemorySegment row) {
    if (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN) {
      return row;
    }
    MemorySegment turned = MemorySegment.ofArray(new byte[Math.toIntExact(row.byteSize())]);
    for (long at = 0; at < row.byteSize(); at += Integer.BYTES) {
      turned.set(LITTLE, at, row.get(ValueLayout.JAVA_INT_UNALIGNED, at));
    }
    return turned;
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

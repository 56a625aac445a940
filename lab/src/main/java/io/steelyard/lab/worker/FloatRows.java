package io.steelyard.lab.worker;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Rows of float32 values that a worker wrote to a file, mapped. Closing it unmaps and deletes the
 * file; any thread may read.
 */
public final class FloatRows implements AutoCloseable {
  private static final ValueLayout.OfFloat LITTLE =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Path file;
  private final Arena arena;
  private final MemorySegment values;
  private final long rows;
  private final int width;

  private FloatRows(Path file, Arena arena, MemorySegment values, long rows, int width) {
    this.file = file;
    this.arena = arena;
    this.values = values;
    this.rows = rows;
    this.width = width;
  }

  /**
   * Maps a file that must hold just these rows.
   *
   * @throws WireException if it does not
   */
  static FloatRows map(Path file, long rows, int width) throws IOException, WireException {
    if (rows < 0 || width < 0 || rows > Long.MAX_VALUE / Math.max(1, 4L * width)) {
      throw new WireException(rows + " rows of " + width + " values can't be");
    }
    long expected = rows * width * Float.BYTES;
    Arena arena = Arena.ofShared();
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      if (channel.size() != expected) {
        throw new WireException(
            "the file %s has %d bytes, %d rows of %d float32 values need %d"
                .formatted(file.getFileName(), channel.size(), rows, width, expected));
      }
      MemorySegment values = channel.map(FileChannel.MapMode.READ_ONLY, 0, expected, arena);
      return new FloatRows(file, arena, values, rows, width);
    } catch (IOException | WireException | RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  public long rows() {
    return rows;
  }

  /** Values a row. */
  public int width() {
    return width;
  }

  /** One value. */
  public float at(long row, int column) {
    return values.get(LITTLE, (row * width + column) * Float.BYTES);
  }

  /** A copy of one row. */
  public float[] row(long row) {
    float[] copy = new float[width];
    MemorySegment.copy(values, LITTLE, row * width * Float.BYTES, copy, 0, width);
    return copy;
  }

  /** All rows, little-endian; valid until this is closed. */
  public MemorySegment segment() {
    return values;
  }

  @Override
  public void close() throws IOException {
    arena.close();
    Files.deleteIfExists(file);
  }
}

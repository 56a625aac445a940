package io.steelyard.lab.worker;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/** Makes the rows that a worker would have written. */
public final class TestRows {
  private TestRows() {}

  /**
   * Writes and maps rows.
   *
   * @param file is made, and deleted when the rows are closed
   */
  public static FloatRows of(Path file, int width, float... values)
      throws IOException, WireException {
    ByteBuffer bytes =
        ByteBuffer.allocate(Float.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    Files.write(file, bytes.array());
    return FloatRows.map(file, values.length / width, width);
  }
}

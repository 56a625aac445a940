package io.steelyard.models.gguf;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Puts a header together; the counterpart of {@link HeaderReader}. */
final class HeaderWriter {
  private static final int VERSION = 3;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  HeaderWriter(long tensors, long entries) {
    putInt(HeaderReader.MAGIC);
    putInt(VERSION);
    putLong(tensors);
    putLong(entries);
  }

  void entry(String key, Value value) {
    putString(key);
    putInt(value.type().id());
    put(value);
  }

  /** A tensor whose data begins at an offset from the start of all tensor data. */
  void tensor(String name, int typeId, long[] dimensions, long offset) {
    putString(name);
    putInt(dimensions.length);
    for (long dimension : dimensions) {
      putLong(dimension);
    }
    putInt(typeId);
    putLong(offset);
  }

  byte[] bytes() {
    return out.toByteArray();
  }

  private void put(Value value) {
    switch (value.type()) {
      case UINT8, INT8, BOOL -> out.write(whole(value));
      case UINT16, INT16 -> write(little(2).putShort((short) whole(value)));
      case UINT32, INT32 -> putInt(whole(value));
      case UINT64, INT64 -> putLong((long) value.content());
      case FLOAT32 -> write(little(4).putFloat((float) value.content()));
      case FLOAT64 -> write(little(8).putDouble((double) value.content()));
      case STRING -> putString((String) value.content());
      case ARRAY -> {
        Elements elements = (Elements) value.content();
        putInt(elements.type().id());
        putLong(elements.count());
        out.writeBytes(elements.bytes());
      }
    }
  }

  private static int whole(Value value) {
    return value.content() instanceof Boolean flag ? (flag ? 1 : 0) : (int) (long) value.content();
  }

  private void putString(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    putLong(bytes.length);
    out.writeBytes(bytes);
  }

  private void putInt(int value) {
    write(little(4).putInt(value));
  }

  private void putLong(long value) {
    write(little(8).putLong(value));
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private void write(ByteBuffer buffer) {
    buffer.flip();
    while (buffer.hasRemaining()) {
      out.write(buffer.get());
    }
  }
}

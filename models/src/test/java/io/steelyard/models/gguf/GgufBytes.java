package io.steelyard.models.gguf;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Puts GGUF files together byte by byte, right ones and wrong ones. */
final class GgufBytes {
  /** Bytes of the file of which {@code llama-header.bin} is the header. */
  private static final int LLAMA_FILE_BYTES = 665_248;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  static GgufBytes header(int version, long tensors, long entries) {
    return new GgufBytes().raw("GGUF").int32(version).int64(tensors).int64(entries);
  }

  /** A whole tiny Llama model with a tokenizer, converted by llama.cpp; its weights are zeros. */
  static byte[] llama() {
    try (InputStream in = GgufBytes.class.getResourceAsStream("llama-header.bin")) {
      return Arrays.copyOf(in.readAllBytes(), LLAMA_FILE_BYTES);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  GgufBytes raw(String text) {
    out.writeBytes(text.getBytes(StandardCharsets.UTF_8));
    return this;
  }

  GgufBytes raw(byte[] bytes) {
    out.writeBytes(bytes);
    return this;
  }

  GgufBytes string(String text) {
    return int64(text.getBytes(StandardCharsets.UTF_8).length).raw(text);
  }

  GgufBytes int8(int value) {
    out.write(value);
    return this;
  }

  GgufBytes int16(int value) {
    return raw(little(2).putShort(0, (short) value));
  }

  GgufBytes int32(int value) {
    return raw(little(4).putInt(0, value));
  }

  GgufBytes int64(long value) {
    return raw(little(8).putLong(0, value));
  }

  GgufBytes key(String key, ValueType type) {
    return string(key).int32(type.id());
  }

  GgufBytes tensor(String name, int type, long offset, long... dimensions) {
    string(name).int32(dimensions.length);
    for (long dimension : dimensions) {
      int64(dimension);
    }
    return int32(type).int64(offset);
  }

  /** Pads the header and appends data. */
  GgufBytes data(int bytes) {
    while (out.size() % 32 != 0) {
      out.write(0);
    }
    return raw(new byte[bytes]);
  }

  byte[] bytes() {
    return out.toByteArray();
  }

  GgufFile open() {
    return GgufFile.of(MemorySegment.ofArray(bytes()), "model.gguf");
  }

  private GgufBytes raw(ByteBuffer buffer) {
    while (buffer.hasRemaining()) {
      out.write(buffer.get());
    }
    return this;
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}

package io.steelyard.models.gguf;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.codec.TensorEncoder;
import io.steelyard.models.Mutations;
import io.steelyard.models.ProgressListener;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Opens mutated files and touches all that a loader would; see {@link Mutations}. */
class GgufFuzzTest {
  private static final long SEED = 20_260_101;

  @TempDir Path directory;

  @Test
  void survivesTwoThousandMutations() throws IOException {
    fuzz(2_000);
  }

  @Test
  @Tag("soak")
  void survivesThreeHundredThousandMutations() throws IOException {
    fuzz(300_000);
  }

  private void fuzz(int count) throws IOException {
    Mutations.Outcome outcome =
        Mutations.survive(
            "fuzz.gguf",
            SEED,
            count,
            List.of(GgufBytes.llama(), everyValueType(), manyTensors()),
            GgufFuzzTest::mutate,
            GgufFuzzTest::touch);
    // A mutation that always or never hurts would test nothing.
    assertThat(outcome.read()).isGreaterThan(count / 20);
    assertThat(outcome.refused()).isGreaterThan(count / 5);
  }

  /** Opens a file and reads all metadata and the ends of all tensors. */
  private static void touch(byte[] bytes) {
    try (GgufFile file = GgufFile.of(MemorySegment.ofArray(bytes), "fuzz.gguf")) {
      Metadata metadata = file.metadata();
      for (String key : metadata.keys()) {
        Object value = metadata.raw(key);
        if (value instanceof List<?> list) {
          assertThat(metadata.length(key)).isEqualTo(list.size());
        }
        if (key.equals("tokenizer.ggml.tokens")) {
          metadata.strings(key);
        } else if (key.equals("tokenizer.ggml.token_type")) {
          metadata.ints(key);
        }
      }
      for (Tensor tensor : file.tensors()) {
        MemorySegment lastRow = tensor.data().asSlice(tensor.data().byteSize() - tensor.rowBytes());
        assertThat(lastRow.toArray(ValueLayout.JAVA_BYTE)).hasSize((int) tensor.rowBytes());
      }
      file.metadata().integer("llama.block_count", 0);
    }
  }

  private static byte[] mutate(byte[] original, SplittableRandom random) {
    byte[] bytes = original.clone();
    int header = Math.min(bytes.length, 8_064);
    int mutations = 1 + random.nextInt(4);
    for (int m = 0; m < mutations; m++) {
      int at = random.nextInt(random.nextInt(4) == 0 ? Math.min(header, 64) : header);
      ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      switch (random.nextInt(6)) {
        case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> bytes[at] = (byte) random.nextInt();
        case 2 -> {
          if (at + 8 <= bytes.length) {
            buffer.putLong(at, awkward(random, bytes.length));
          }
        }
        case 3 -> {
          if (at + 4 <= bytes.length) {
            buffer.putInt(at, (int) awkward(random, bytes.length));
          }
        }
        case 4 -> {
          int from = random.nextInt(header);
          int length = Math.min(1 + random.nextInt(64), bytes.length - Math.max(at, from));
          System.arraycopy(bytes, from, bytes, at, length);
        }
        default -> {
          if (random.nextInt(4) == 0) {
            bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
            header = Math.min(header, bytes.length);
            if (header == 0) {
              return bytes;
            }
          }
        }
      }
    }
    return bytes;
  }

  private static long awkward(SplittableRandom random, int fileSize) {
    long[] values = {
      0,
      1,
      -1,
      9,
      8,
      13,
      32,
      Integer.MAX_VALUE,
      Integer.MIN_VALUE,
      1L << 32,
      1L << 31,
      1L << 61,
      Long.MAX_VALUE,
      Long.MIN_VALUE,
      fileSize,
      fileSize - 64,
      fileSize / 8,
      fileSize / 13,
    };
    return values[random.nextInt(values.length)];
  }

  private byte[] everyValueType() throws IOException {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("general.architecture", "llama");
    values.put("general.alignment", 32);
    for (ValueType type : ValueType.values()) {
      if (type.integral()) {
        values.put("plain." + type.label(), new Value(type, 1L));
        byte[] bytes = new byte[5 * type.leastBytes()];
        values.put(
            "array." + type.label(), new Value(ValueType.ARRAY, new Elements(type, 5, bytes)));
      }
    }
    values.put("float", 1f);
    values.put("double", 1.0);
    values.put("flag", true);
    values.put("tokenizer.ggml.tokens", List.of("a", "bc", "", "Ġthe", "€"));
    values.put("tokenizer.ggml.token_type", new int[] {1, 1, 3, 1, 1});
    values.put("nested", nested(1));
    values.put("deeper", nested(2));
    return write(new GgufWriter(new Metadata("fuzz", values)));
  }

  private static Value nested(int depth) {
    GgufBytes bytes = new GgufBytes();
    for (int d = 1; d < depth; d++) {
      bytes.int32(ValueType.ARRAY.id()).int64(1);
    }
    byte[] inner = bytes.int32(ValueType.UINT16.id()).int64(2).int32(7).bytes();
    return new Value(ValueType.ARRAY, new Elements(ValueType.ARRAY, 1, inner));
  }

  private byte[] manyTensors() throws IOException {
    GgufWriter writer = new GgufWriter(new Metadata("fuzz", Map.of("llama.block_count", 3)));
    int i = 0;
    for (DataType type : DataType.values()) {
      for (long rows = 1; rows <= 4; rows++) {
        String name = "blk." + i++ + ".weight";
        writer.add(
            name, type, new long[] {type.blockSize(), rows}, (from, part) -> part.fill((byte) 7));
        long scales = TensorEncoder.scales(type, type.blockSize(), rows, 1);
        if (scales > 0) {
          writer.add(
              TensorScales.name(name),
              DataType.F32,
              new long[] {scales},
              (from, part) -> part.fill((byte) 7));
        }
      }
    }
    return write(writer);
  }

  private byte[] write(GgufWriter writer) throws IOException {
    Path path = directory.resolve("original.gguf");
    writer.write(path, ProgressListener.NONE);
    return Files.readAllBytes(path);
  }
}

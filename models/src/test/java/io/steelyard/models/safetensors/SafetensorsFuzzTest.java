package io.steelyard.models.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.models.ModelException;
import io.steelyard.models.Mutations;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reads mutated headers and files; see {@link Mutations}. */
class SafetensorsFuzzTest {
  private static final long SEED = 20_260_301;

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
    Path model = Fixtures.resource("qwen3-bf16").resolve("model.safetensors");
    Mutations.Outcome outcome =
        Mutations.survive(
            "fuzz.safetensors",
            SEED,
            count,
            List.of(small(), Files.readAllBytes(model)),
            SafetensorsFuzzTest::mutate,
            SafetensorsFuzzTest::touch);
    // A mutation that always or never hurts would test nothing.
    assertThat(outcome.read()).isGreaterThan(count / 50);
    assertThat(outcome.refused()).isGreaterThan(count / 2);
  }

  private static void touch(byte[] bytes) {
    for (StoredTensor tensor :
        SafetensorsHeader.read("fuzz.safetensors", MemorySegment.ofArray(bytes))) {
      assertThat(tensor.data().byteSize())
          .isEqualTo(tensor.rows() * tensor.columns() * tensor.type().bytes());
      if (tensor.data().byteSize() > 0) {
        tensor.data().get(ValueLayout.JAVA_BYTE, tensor.data().byteSize() - 1);
      }
    }
  }

  private static byte[] mutate(byte[] original, SplittableRandom random) {
    byte[] bytes = original.clone();
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int header = (int) buffer.getLong(0);
    switch (random.nextInt(6)) {
      case 0 -> bytes[8 + random.nextInt(header)] ^= (byte) (1 << random.nextInt(8));
      case 1 -> bytes[8 + random.nextInt(header)] = (byte) random.nextInt();
      case 2 -> {
        long[] lengths = {
          -1,
          0,
          1,
          2,
          header - 1,
          header + 1,
          bytes.length - 8,
          bytes.length - 7,
          100_000_000,
          Integer.MAX_VALUE,
          1L << 32,
          Long.MAX_VALUE,
          Long.MIN_VALUE
        };
        buffer.putLong(0, lengths[random.nextInt(lengths.length)]);
      }
      case 3 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
      case 4 -> {
        // Only the header's layout changes, not what it says.
        int at = 8 + random.nextInt(header);
        if (bytes[at] == ' ') {
          bytes[at] = '\n';
        }
        bytes[bytes.length - 1] ^= 1;
      }
      default -> bytes = withText(bytes, header, random);
    }
    return bytes;
  }

  /** Awkward text in the header, with its length corrected. */
  private static byte[] withText(byte[] bytes, int header, SplittableRandom random) {
    byte[] json = Mutations.text(Arrays.copyOfRange(bytes, 8, 8 + header), random);
    return file(json, Arrays.copyOfRange(bytes, 8 + header, bytes.length));
  }

  private static byte[] small() {
    return file(
        """
        {"__metadata__":{"format":"pt"},
        "a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},
        "b":{"dtype":"I8","shape":[5],"data_offsets":[24,29]},
        "c":{"dtype":"BF16","shape":[],"data_offsets":[29,31]},
        "d":{"dtype":"F8_E4M3","shape":[0,7],"data_offsets":[31,31]}}
        """,
        new byte[31]);
  }

  private static byte[] file(String header, byte[] data) {
    return file(header.getBytes(StandardCharsets.UTF_8), data);
  }

  private static byte[] file(byte[] json, byte[] data) {
    return ByteBuffer.allocate(8 + json.length + data.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(json.length)
        .put(json)
        .put(data)
        .array();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          "a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]} | 'a' and 'b' overlap
          "a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]} | no tensor owns the bytes from 4 to 8
          "a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]} | no tensor owns the bytes from 0 to 4
          "a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]} | has 8 bytes where its type and shape need 12
          "a":{"dtype":"F64","shape":[2],"data_offsets":[0,8]} | has 8 bytes where its type and shape need 16
          "a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]} | lies at 0 to 16 of 8 bytes
          "a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]} | the shape of tensor 'a' has -2 in it
          "a":{"dtype":"F32","shape":[9223372036854775807],"data_offsets":[0,8]} | beyond any size
          "a":{"dtype":"F4","shape":[16],"data_offsets":[0,8]} | type F4, which Steelyard doesn't read
          "a":{"dtype":"F32","shape":[2]} | lacks a type, a shape or two offsets
          "a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1} | unknown property 'x'
          "a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{} | 'a' appears twice
          "__metadata__":{"a":[[[[[[[[1]]]]]]]]} | no valid JSON
          """)
  void aHeaderThatLiesIsRefusedByName(String tensors, String said) {
    byte[] bytes = file("{" + tensors + "}", new byte[8]);

    assertThatThrownBy(() -> touch(bytes))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("fuzz.safetensors")
        .hasMessageContaining(said);
  }

  @Test
  void whatIsNoSafetensorsFileIsToldApart() {
    assertThatThrownBy(() -> touch(new byte[3])).hasMessageContaining("it has only 3 bytes");
    assertThatThrownBy(() -> touch(file("GGUF", new byte[8])))
        .hasMessageContaining("is not a safetensors file");
  }
}

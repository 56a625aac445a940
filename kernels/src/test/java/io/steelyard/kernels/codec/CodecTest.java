package io.steelyard.kernels.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Golden values are what ggml's own {@code to_float} gives for the same bytes. */
class CodecTest {
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "F32")
  void decodesBitForBitAsGgml(DataType type) throws IOException {
    MemorySegment blocks = MemorySegment.ofArray(resource(type + ".blocks"));
    float[] golden = floats(resource(type + ".f32"));
    float[] decoded = new float[golden.length];

    Codec.of(type).decode(blocks, 0, decoded, 0, decoded.length);

    for (int i = 0; i < golden.length; i++) {
      assertThat(Float.floatToRawIntBits(decoded[i]))
          .as("value %d: %s, golden %s", i, decoded[i], golden[i])
          .isEqualTo(Float.floatToRawIntBits(golden[i]));
    }
  }

  @Test
  void passesFloat32Through() throws IOException {
    byte[] bytes = resource("Q4_K.f32");
    float[] decoded = new float[bytes.length / Float.BYTES];

    Codec.of(DataType.F32).decode(MemorySegment.ofArray(bytes), 0, decoded, 0, decoded.length);

    assertThat(decoded).isEqualTo(floats(bytes));
  }

  @Test
  void decodesFromAndIntoTheMiddle() throws IOException {
    DataType type = DataType.Q4_1;
    MemorySegment blocks = MemorySegment.ofArray(resource(type + ".blocks"));
    float[] golden = floats(resource(type + ".f32"));
    float[] decoded = new float[66];

    Codec.of(type).decode(blocks, 3L * type.blockBytes(), decoded, 1, 64);

    for (int i = 0; i < 64; i++) {
      assertThat(decoded[1 + i]).isEqualTo(golden[96 + i]);
    }
    assertThat(decoded[0]).isZero();
    assertThat(decoded[65]).isZero();
  }

  @Test
  void refusesPartOfABlock() {
    assertThatThrownBy(
            () ->
                Codec.of(DataType.Q6_K)
                    .decode(MemorySegment.ofArray(new byte[210]), 0, new float[256], 0, 128))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("128 values are no multiple of Q6_K's block of 256");
  }

  private static byte[] resource(String name) throws IOException {
    try (InputStream in = CodecTest.class.getResourceAsStream(name)) {
      assertThat(in).as(name).isNotNull();
      return in.readAllBytes();
    }
  }

  private static float[] floats(byte[] bytes) {
    float[] values = new float[bytes.length / Float.BYTES];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
    return values;
  }
}

package io.steelyard.kernels.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Golden values are what ggml's own {@code to_float} gives for the same bytes. */
class CodecTest {
  static Stream<DataType> typesWithGoldenValues() {
    Set<DataType> without =
        EnumSet.of(
            DataType.F32, DataType.F64, DataType.Q8_1, DataType.Q8_K, DataType.I8, DataType.I16);
    without.addAll(Set.of(DataType.I32, DataType.I64));
    return Stream.of(DataType.values()).filter(type -> type.isGgml() && !without.contains(type));
  }

  @ParameterizedTest
  @MethodSource("typesWithGoldenValues")
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
  void wholeNumbersAndFloat64BecomeTheNearestFloat32() {
    ByteBuffer bytes = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(decode(DataType.I8, bytes.put(0, (byte) -3).put(1, (byte) 127), 2))
        .containsExactly(-3, 127);
    assertThat(decode(DataType.I16, bytes.putShort(0, (short) -300).putShort(2, (short) 7), 2))
        .containsExactly(-300, 7);
    assertThat(decode(DataType.I32, bytes.putInt(0, 16_777_217).putInt(4, -5), 2))
        .containsExactly(16_777_216, -5);
    assertThat(decode(DataType.I64, bytes.putLong(0, Long.MAX_VALUE).putLong(8, -1), 2))
        .containsExactly(0x1p63f, -1);
    assertThat(decode(DataType.F64, bytes.putDouble(0, 0.1).putDouble(8, 1e300), 2))
        .containsExactly(0.1f, Float.POSITIVE_INFINITY);
  }

  @Test
  void bytesMadeForActivationsDecodeByTheirScaleAlone() {
    ByteBuffer small = ByteBuffer.allocate(36).order(ByteOrder.LITTLE_ENDIAN);
    small.putShort(0, Float.floatToFloat16(0.5f)).putShort(2, Float.floatToFloat16(99));
    small.put(4, (byte) -128).put(35, (byte) 3);
    float[] decoded = decode(DataType.Q8_1, small, 32);
    assertThat(decoded[0]).isEqualTo(-64);
    assertThat(decoded[31]).isEqualTo(1.5f);

    ByteBuffer large = ByteBuffer.allocate(292).order(ByteOrder.LITTLE_ENDIAN);
    large.putFloat(0, 0.25f).put(4, (byte) -128).put(259, (byte) 3).put(260, (byte) 77);
    decoded = decode(DataType.Q8_K, large, 256);
    assertThat(decoded[0]).isEqualTo(-32);
    assertThat(decoded[255]).isEqualTo(0.75f);
  }

  private static float[] decode(DataType type, ByteBuffer bytes, int count) {
    float[] decoded = new float[count];
    Codec.of(type).decode(MemorySegment.ofBuffer(bytes), 0, decoded, 0, count);
    return decoded;
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

  static byte[] resource(String name) throws IOException {
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

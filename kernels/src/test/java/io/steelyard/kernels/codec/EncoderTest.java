package io.steelyard.kernels.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The golden blocks are llama.cpp's own quantisation of the values in {@code source.f32}. */
class EncoderTest {

  @ParameterizedTest
  @EnumSource(names = {"Q8_0", "Q4_0", "F16", "BF16"})
  void givesTheSameBytesAsLlamaCpp(DataType type) throws IOException {
    float[] source = floats(resource("source.f32"));
    byte[] golden = resource(type + ".blocks");
    byte[] encoded = encode(type, source);

    assertThat(encoded).isEqualTo(golden);
  }

  /** The golden blocks' first half was quantised by llama.cpp, from as many values of a source. */
  @ParameterizedTest
  @EnumSource(names = {"Q4_1", "Q5_0", "Q5_1", "MXFP4"})
  void givesTheSameBlocksOfALargerSource(DataType type) throws IOException {
    byte[] golden = CodecTest.resource(type + ".blocks");
    float[] source = Arrays.copyOf(floats(CodecTest.resource("source.f32")), 8 * type.blockSize());

    assertThat(encode(type, source)).isEqualTo(Arrays.copyOf(golden, golden.length / 2));
  }

  @ParameterizedTest
  @EnumSource(names = {"Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL"})
  void isAsCloseToTheSourceAsLlamaCpp(DataType type) throws IOException {
    float[] source = Arrays.copyOf(floats(CodecTest.resource("source.f32")), 8 * type.blockSize());
    byte[] encoded = encode(type, source);
    float[] decoded = new float[source.length];
    Codec.of(type).decode(MemorySegment.ofArray(encoded), 0, decoded, 0, decoded.length);

    // Their roundings differ, and neither is the best possible: 2 % for luck.
    assertThat(distance(decoded, source))
        .isLessThan(1.02 * distance(floats(CodecTest.resource(type + ".f32")), source));
  }

  /** Root mean square of the differences to all values of a source. */
  private static double distance(float[] values, float[] source) {
    double squares = 0;
    for (int i = 0; i < source.length; i++) {
      squares += Math.pow((double) values[i] - source[i], 2);
    }
    return Math.sqrt(squares / source.length);
  }

  @Test
  void writesFloatsInLittleEndianOrder() {
    assertThat(encode(DataType.F32, new float[] {1.0f})).containsExactly(0, 0, 0x80, 0x3F);
  }

  @ParameterizedTest
  @CsvSource({
    "1.0, 3F80",
    "-2.5, C020",
    "1.00390625, 3F80", // halfway between two neighbours: the even one
    "1.01171875, 3F82",
    "Infinity, 7F80",
    "3.4e38, 7F80" // beyond the largest finite bfloat16
  })
  void roundsToTheNearestBfloat16WithTiesToEven(float value, String bits) {
    assertThat(Encoder.bfloat16(value)).isEqualTo((short) Integer.parseInt(bits, 16));
  }

  @Test
  void keepsANanANanInBfloat16() {
    float signalling = Float.intBitsToFloat(0x7F800001);
    int bits = Encoder.bfloat16(signalling) << 16;

    assertThat(Float.intBitsToFloat(bits)).isNaN();
  }

  @Test
  void roundsHalvesAwayFromZeroInQ8() {
    // The largest value makes the scale exactly one.
    float[] values = new float[32];
    values[0] = 127;
    values[1] = 0.5f;
    values[2] = -0.5f;
    values[3] = 0.49999997f;
    values[4] = 2.5f;
    byte[] block = encode(DataType.Q8_0, values);

    assertThat(block[3]).isEqualTo((byte) 1);
    assertThat(block[4]).isEqualTo((byte) -1);
    assertThat(block[5]).isEqualTo((byte) 0);
    assertThat(block[6]).isEqualTo((byte) 3);
  }

  @ParameterizedTest
  @MethodSource("io.steelyard.kernels.codec.Encoder#types")
  void encodesABlockOfZeros(DataType type) {
    float[] decoded = new float[type.blockSize()];
    byte[] block = encode(type, decoded.clone());
    Arrays.fill(decoded, 1);
    Codec.of(type).decode(MemorySegment.ofArray(block), 0, decoded, 0, decoded.length);

    for (float value : decoded) {
      assertThat(value).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "MXFP4"})
  void valuesOfOneSignKeepIt(DataType type) {
    for (float sign : new float[] {-1, 1}) {
      float[] values = new float[type.blockSize()];
      Arrays.fill(values, 3 * sign);
      byte[] block = encode(type, values);
      float[] decoded = new float[values.length];
      Codec.of(type).decode(MemorySegment.ofArray(block), 0, decoded, 0, decoded.length);
      for (float value : decoded) {
        assertThat(value * sign).isBetween(2.9f, 3.1f);
      }
    }
  }

  @Test
  void encodesFromAndToAnOffset() {
    float[] values = {9, 1, 2, 9};
    byte[] out = new byte[8];
    Encoder.encode(DataType.F16, values, 1, 2, MemorySegment.ofArray(out), 2);

    assertThat(out).containsExactly(0, 0, 0, 0x3C, 0, 0x40, 0, 0);
  }

  @Test
  void refusesTypesItCantWrite() {
    assertThatThrownBy(() -> encode(DataType.IQ1_S, new float[256]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("IQ1_S can't be written");
  }

  @Test
  void refusesPartsOfBlocks() {
    assertThatThrownBy(() -> encode(DataType.Q8_0, new float[33]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("33");
  }

  private static byte[] encode(DataType type, float[] values) {
    byte[] out = new byte[(int) type.bytes(values.length - values.length % type.blockSize())];
    Encoder.encode(type, values, 0, values.length, MemorySegment.ofArray(out), 0);
    return out;
  }

  private static float[] floats(byte[] bytes) {
    float[] floats = new float[bytes.length / 4];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(floats);
    return floats;
  }

  private static byte[] resource(String name) throws IOException {
    try (InputStream in = EncoderTest.class.getResourceAsStream("encoder/" + name)) {
      assertThat(in).as(name).isNotNull();
      return in.readAllBytes();
    }
  }
}

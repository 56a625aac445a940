package io.steelyard.kernels.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The blocks are those of {@link CodecTest}: from a quantiser, then of random bytes. */
class RepackerTest {
  static Stream<DataType> repacked() {
    return Stream.of(DataType.values())
        .filter(type -> Repacker.target(type) != type)
        .filter(type -> CodecTest.class.getResource(type + ".blocks") != null);
  }

  @ParameterizedTest
  @MethodSource("repacked")
  void quantisedWeightsKeepTheirValues(DataType type) throws IOException {
    byte[] blocks = CodecTest.resource(type + ".blocks");
    byte[] quantised = Arrays.copyOf(blocks, blocks.length / 2);
    int count = quantised.length / type.blockBytes() * type.blockSize();
    float[] expected = decode(type, quantised, count);

    Repacker repacker = Repacker.of(type);
    byte[] bytes = new byte[(int) repacker.target().bytes(count)];
    assertThat(repacker.repack(row(type, quantised, count), 0, MemorySegment.ofArray(bytes), 0))
        .isTrue();

    float[] actual = decode(repacker.target(), bytes, count);
    // Half a unit of 11 bits.
    double rounding = Repacker.rounds(type) ? 0x1p-11 : 0;
    for (int i = 0; i < count; i++) {
      assertThat((double) Math.abs(actual[i] - expected[i]))
          .as("%s, value %d: %s, exactly %s", type, i, actual[i], expected[i])
          .isLessThanOrEqualTo(Math.abs(expected[i]) * rounding);
    }
  }

  @ParameterizedTest
  @MethodSource("repacked")
  void float32KeepsEveryBit(DataType type) throws IOException {
    byte[] blocks = CodecTest.resource(type + ".blocks");
    int count = blocks.length / type.blockBytes() * type.blockSize();
    byte[] bytes = new byte[4 * count];

    assertThat(
            Repacker.toFloat32(type)
                .repack(row(type, blocks, count), 0, MemorySegment.ofArray(bytes), 0))
        .isTrue();

    assertThat(bytes).isEqualTo(CodecTest.resource(type + ".f32"));
  }

  @Test
  void scalesThatFloat16CannotHoldAreRefused() {
    // Its values are whole multiples of the half that a block begins with, times 1 + 2 · 15.
    byte[] block = new byte[DataType.IQ3_S.blockBytes()];
    Arrays.fill(block, (byte) 0xFF);
    for (float half : new float[] {0x1p-24f, 1, 2112, 2114, 65504}) {
      short bits = Float.floatToFloat16(half);
      block[0] = (byte) bits;
      block[1] = (byte) (bits >> 8);
      assertThat(repacksIq3Small(block)).as("scale %s", half).isEqualTo(half * 31 <= 65504);
    }
  }

  private static boolean repacksIq3Small(byte[] block) {
    return Repacker.of(DataType.IQ3_S)
        .repack(
            row(DataType.IQ3_S, block, 256),
            0,
            MemorySegment.ofArray(new byte[(int) DataType.Q8_0.bytes(256)]),
            0);
  }

  private static Tensor row(DataType type, byte[] blocks, int count) {
    return new Tensor("row", type, count, 1, MemorySegment.ofArray(blocks));
  }

  private static float[] decode(DataType type, byte[] bytes, int count) {
    float[] values = new float[count];
    Codec.of(type).decode(MemorySegment.ofArray(bytes), 0, values, 0, count);
    return values;
  }
}

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
    byte[] block = new byte[17];
    Arrays.fill(block, 1, 17, (byte) 0x11);
    for (int exponent : new int[] {0, 102, 103, 104, 143, 144, 254}) {
      block[0] = (byte) exponent;
      // Half of 2^(exponent - 127), from 2^-24 to 2^15.
      assertThat(
              Repacker.of(DataType.MXFP4)
                  .repack(
                      row(DataType.MXFP4, block, 32), 0, MemorySegment.ofArray(new byte[34]), 0))
          .as("exponent %d", exponent)
          .isEqualTo(exponent >= 104 && exponent <= 143);
    }
    // Where all values are zero, the scale doesn't matter.
    assertThat(
            Repacker.of(DataType.MXFP4)
                .repack(
                    row(DataType.MXFP4, new byte[17], 32),
                    0,
                    MemorySegment.ofArray(new byte[34]),
                    0))
        .isTrue();
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

package io.steelyard.models.synth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.codec.Codec;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class RandomKBlocksTest {
  private static final SplitMix RANDOM = SplitMix.of(1, "a.weight");

  /**
   * The mean's standard error is 0.001 deviations, nearly all of it from 2^20 values. The
   * deviation's is 0.3 %, most of it from 4096 blocks whose scales spread by 14 %; the least scale
   * is a subnormal half, whose rounding adds up to 0.3 %. Bounds are four standard errors and that.
   */
  @ParameterizedTest
  @CsvSource({
    "Q4_K, 0.0025", "Q4_K, 0.022", "Q4_K, 1",
    "Q5_K, 0.0025", "Q5_K, 0.022", "Q5_K, 1",
    "Q6_K, 0.0025", "Q6_K, 0.022", "Q6_K, 1"
  })
  void decodesToMeanZeroAndTheDeviationAskedFor(DataType type, double deviation) {
    float[] values = decode(type, blocks(type, deviation, 4096));
    float largest = 0;
    double sum = 0;
    for (float value : values) {
      largest = Math.max(largest, Math.abs(value)); // a NaN would stay
      sum += value;
    }

    assertThat(sum / values.length).isCloseTo(0, within(0.005 * deviation));
    assertThat(Math.sqrt(meanSquare(values))).isCloseTo(deviation, within(0.015 * deviation));
    assertThat((double) largest).isBetween(2 * deviation, 5 * deviation);
  }

  /**
   * Means of 16 or 32 independent values have a 16th or 32nd of their variance. Minima that stray
   * add a tenth of that to it; minima that had nothing to do with their scales would make it
   * several times as much.
   */
  @ParameterizedTest
  @CsvSource({"Q4_K, 32", "Q5_K, 32", "Q6_K, 16"})
  void givesEachSubBlockAMeanNearZero(DataType type, int size) {
    float[] values = decode(type, blocks(type, 1, 4096));
    float[] means = new float[values.length / size];
    for (int i = 0; i < values.length; i++) {
      means[i / size] += values[i] / size;
    }

    assertThat(meanSquare(means) * size / meanSquare(values)).isBetween(0.9, 1.2);
  }

  @ParameterizedTest
  @EnumSource(names = {"Q4_K", "Q5_K"})
  void spreadsScalesAndKeepsMinimaByThem(DataType type) {
    byte[] blocks = blocks(type, 1, 256);
    Set<Integer> scales = new TreeSet<>();
    Set<Integer> strays = new TreeSet<>();
    Set<Integer> blockScales = new TreeSet<>();
    for (int block = 0; block < blocks.length; block += type.blockBytes()) {
      blockScales.add((blocks[block] & 0xFF) | blocks[block + 1] << 8);
      // The first four sub-blocks have their numbers in the low six bits of bytes 4 to 11.
      for (int sub = 4; sub < 8; sub++) {
        int scale = blocks[block + sub] & 63;
        scales.add(scale);
        strays.add((blocks[block + sub + 4] & 63) - scale);
      }
    }

    assertThat(scales).hasSize(32).contains(28, 59);
    assertThat(strays).containsExactly(-3, -2, -1, 0, 1, 2, 3);
    assertThat(blockScales).hasSizeGreaterThan(64);
  }

  @Test
  void spreadsScalesOfEitherSignInQ6() {
    byte[] blocks = blocks(DataType.Q6_K, 1, 256);
    Set<Integer> magnitudes = new TreeSet<>();
    int negative = 0;
    for (int block = 0; block < blocks.length; block += 210) {
      for (int sub = 192; sub < 208; sub++) {
        int scale = blocks[block + sub];
        magnitudes.add(Math.abs(scale));
        negative += scale < 0 ? 1 : 0;
      }
    }

    assertThat(magnitudes).hasSize(64).contains(64, 127);
    // 4096 signs: half of them, give or take four standard errors of 32.
    assertThat(negative).isCloseTo(2048, within(128));
  }

  @ParameterizedTest
  @EnumSource(names = {"Q4_K", "Q5_K", "Q6_K"})
  void givesAPartTheBytesThatItHasInTheWhole(DataType type) {
    byte[] whole = blocks(type, 1, 8);
    byte[] part = new byte[3 * type.blockBytes()];
    int from = 4 * type.blockBytes();
    new RandomKBlocks(type, RANDOM, 1).fill(from, MemorySegment.ofArray(part));

    assertThat(part).isEqualTo(Arrays.copyOfRange(whole, from, from + part.length));
  }

  @Test
  void refusesOtherTypes() {
    assertThatThrownBy(() -> new RandomKBlocks(DataType.Q8_0, RANDOM, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Q8_0");
  }

  private static byte[] blocks(DataType type, double deviation, int count) {
    byte[] bytes = new byte[count * type.blockBytes()];
    new RandomKBlocks(type, RANDOM, deviation).fill(0, MemorySegment.ofArray(bytes));
    return bytes;
  }

  private static float[] decode(DataType type, byte[] blocks) {
    float[] values = new float[blocks.length / type.blockBytes() * type.blockSize()];
    Codec.of(type).decode(MemorySegment.ofArray(blocks), 0, values, 0, values.length);
    return values;
  }

  private static double meanSquare(float[] values) {
    double squares = 0;
    for (float value : values) {
      squares += (double) value * value;
    }
    return squares / values.length;
  }
}

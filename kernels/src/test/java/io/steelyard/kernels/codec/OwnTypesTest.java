package io.steelyard.kernels.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The golden files are numpy's and ml_dtypes' work: see {@code own/golden.py}. */
class OwnTypesTest {
  private static final int COLUMNS = 640;

  /** The source of {@code golden.py}, bit for bit. */
  private static float[] source(int rows) {
    float[] values = new float[rows * COLUMNS];
    long state = 1;
    for (int i = 0; i < values.length; i++) {
      state = state * 6364136223846793005L + 1442695040888963407L;
      float v = ((state >>> 40) - 0x80_0000) / 0x1p23f;
      values[i] = v * v * v;
    }
    return values;
  }

  private static Tensor encoded(DataType type, Arena arena) {
    int rows = type == DataType.NF4_DQ ? 26 : 2;
    float[] source = source(rows);
    return TensorEncoder.encode(
        "golden",
        type,
        COLUMNS,
        rows,
        (row, to) -> System.arraycopy(source, (int) row * COLUMNS, to, 0, COLUMNS),
        arena);
  }

  @ParameterizedTest
  @EnumSource(
      names = {
        "INT8_TENSOR",
        "INT8_ROW",
        "INT8_G32",
        "INT8_G64",
        "INT8_G128",
        "NF4",
        "NF4_DQ",
        "FP8_E4M3",
        "FP8_E5M2",
        "FP4",
        "NVFP4",
        "F16_2OF4"
      })
  void writesAndReadsTheGoldenBits(DataType type) throws IOException {
    try (Arena arena = Arena.ofShared()) {
      Tensor tensor = encoded(type, arena);

      assertThat(tensor.scales().toArray(ValueLayout.JAVA_BYTE))
          .as("scales")
          .isEqualTo(resource(type + ".scales"));
      assertThat(tensor.data().toArray(ValueLayout.JAVA_BYTE))
          .as("blocks")
          .isEqualTo(resource(type + ".blocks"));
      float[] row = new float[COLUMNS];
      MemorySegment golden = MemorySegment.ofArray(resource(type + ".f32"));
      for (int r = 0; r < tensor.rows(); r++) {
        TensorCodec.decode(tensor, r, row);
        for (int c = 0; c < COLUMNS; c++) {
          float expected =
              golden.getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, (long) r * COLUMNS + c);
          // Zeros may differ in sign.
          assertThat(row[c])
              .as("%s, row %d, column %d", type, r, c)
              .isEqualByComparingTo(expected == 0 ? row[c] * 0 : expected);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(SmallFloat.class)
  void everySmallFloatKeepsItsBits(SmallFloat kind) {
    int count = kind == SmallFloat.E2M1 ? 16 : 256;
    for (int bits = 0; bits < count; bits++) {
      float value = kind.value(bits);
      if (Float.isFinite(value)) {
        assertThat(kind.bits(value)).as("%s of %s", kind, value).isEqualTo(bits);
      }
    }
  }

  @Test
  void smallFloatsSaturate() {
    assertThat(SmallFloat.E4M3.value(SmallFloat.E4M3.bits(1e9f))).isEqualTo(448);
    assertThat(SmallFloat.E4M3.value(SmallFloat.E4M3.bits(Float.NEGATIVE_INFINITY)))
        .isEqualTo(-448);
    assertThat(SmallFloat.E5M2.value(SmallFloat.E5M2.bits(60000))).isEqualTo(57344);
    assertThat(SmallFloat.E2M1.value(SmallFloat.E2M1.bits(-7))).isEqualTo(-6);
    assertThat(SmallFloat.E4M3.value(SmallFloat.E4M3.bits(Float.NaN))).isNaN();
    assertThat(SmallFloat.E5M2.value(SmallFloat.E5M2.bits(Float.NaN))).isNaN();
  }

  @ParameterizedTest
  @EnumSource(names = {"INT8_TENSOR", "INT8_ROW", "FP8_E4M3", "NVFP4", "NF4_DQ"})
  void aTensorOfZerosStaysOne(DataType type) {
    try (Arena arena = Arena.ofShared()) {
      Tensor tensor = TensorEncoder.encode("zeros", type, COLUMNS, 3, (row, to) -> {}, arena);
      float[] row = new float[COLUMNS];
      for (int r = 0; r < 3; r++) {
        TensorCodec.decode(tensor, r, row);
        assertThat(row).containsOnly(0f);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"INT8_TENSOR", "INT8_ROW", "NF4_DQ", "FP4"})
  void slicesDecodeAsTheWhole(DataType type) {
    try (Arena arena = Arena.ofShared()) {
      int rows = 128;
      float[] source = source(rows);
      Tensor whole =
          TensorEncoder.encode(
              "whole",
              type,
              256,
              rows,
              (row, to) -> System.arraycopy(source, (int) row * 256, to, 0, 256),
              arena);
      // 64 rows of 4 blocks: a group of NF4_DQ ends there.
      Tensor half = whole.slice("half", 64, 64);
      float[] expected = new float[256];
      float[] actual = new float[256];
      for (int r = 0; r < 64; r++) {
        TensorCodec.decode(whole, 64 + r, expected);
        TensorCodec.decode(half, r, actual);
        assertThat(actual).isEqualTo(expected);
      }
    }
  }

  private static byte[] resource(String name) throws IOException {
    try (InputStream in = OwnTypesTest.class.getResourceAsStream("own/" + name)) {
      assertThat(in).as(name).isNotNull();
      return in.readAllBytes();
    }
  }
}

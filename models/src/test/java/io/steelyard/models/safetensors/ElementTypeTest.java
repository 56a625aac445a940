package io.steelyard.models.safetensors;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.codec.Encoder;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ElementTypeTest {
  @ParameterizedTest
  @CsvSource({
    // From the OCP 8-bit floating point specification: extremes of both formats.
    "F8_E4M3, 7E, 448",
    "F8_E4M3, 08, 0.015625",
    "F8_E4M3, 01, 0.001953125",
    "F8_E4M3, 07, 0.013671875",
    "F8_E4M3, B8, -1",
    "F8_E4M3, 80, -0.0",
    "F8_E4M3, 7F, NaN",
    "F8_E5M2, 7B, 57344",
    "F8_E5M2, 04, 0.00006103515625",
    "F8_E5M2, 01, 0.0000152587890625",
    "F8_E5M2, FC, -Infinity",
    "U8, FF, 255",
    "I8, FF, -1",
    "BOOL, 01, 1"
  })
  void decodesABytesValue(ElementType type, String bits, String value) {
    byte[] bytes = {(byte) Integer.parseInt(bits, 16)};

    assertThat(decode(type, bytes)).isEqualTo(Float.valueOf(value));
  }

  @Test
  void decodesWiderNumbers() {
    assertThat(decode(ElementType.F64, little(8).putDouble(1e-3).array())).isEqualTo(1e-3f);
    assertThat(decode(ElementType.I64, little(8).putLong(-3).array())).isEqualTo(-3f);
    assertThat(decode(ElementType.U64, little(8).putLong(-1).array())).isEqualTo(0x1p64f);
    assertThat(decode(ElementType.I32, little(4).putInt(-3).array())).isEqualTo(-3f);
    assertThat(decode(ElementType.U32, little(4).putInt(-1).array())).isEqualTo(0x1p32f);
    assertThat(decode(ElementType.I16, little(2).putShort((short) -3).array())).isEqualTo(-3f);
    assertThat(decode(ElementType.U16, little(2).putShort((short) -1).array())).isEqualTo(65535f);
  }

  @ParameterizedTest
  @EnumSource(names = {"F8_E4M3", "F8_E5M2"})
  void everyEightBitFloatIsABfloat16(ElementType type) {
    for (int bits = 0; bits < 256; bits++) {
      float value = decode(type, new byte[] {(byte) bits});
      float rounded = Float.intBitsToFloat(Encoder.bfloat16(value) << Short.SIZE);

      assertThat(rounded).as("bits %x", bits).isEqualTo(Float.valueOf(value));
    }
  }

  private static float decode(ElementType type, byte[] bytes) {
    float[] value = new float[1];
    type.decode(MemorySegment.ofArray(bytes), value, 1);
    return value[0];
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}

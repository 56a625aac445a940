package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RooflineTest {
  private static final Map<String, Double> VECTORS = Map.of("int8", 4.0, "bf16", 2.0, "f32", 1.0);
  private static final Map<String, Double> TILES =
      Map.of("int8", 4.0, "bf16", 2.0, "f32", 1.0, "int8 amx", 32.0, "bf16 amx", 16.0);

  @ParameterizedTest
  @CsvSource({
    // type, with AMX, without, where only float32 is multiplied
    "Q8_0, int8 amx, int8, f32",
    "Q4_K, int8 amx, int8, f32",
    "BF16, bf16 amx, bf16, f32",
    "F16, bf16 amx, f32, f32",
    "F32, f32, f32, f32"
  })
  void productsAreBoundByTheBestInstructionForTheirWeights(
      DataType type, String tiles, String vectors, String floats) {
    String values = Roofline.limit(type);
    assertThat(new Roofline(2, 1, TILES).bound(values, true)).isEqualTo(tiles);
    assertThat(new Roofline(2, 1, TILES).bound(values, false)).isEqualTo(vectors);
    assertThat(new Roofline(2, 1, VECTORS).bound(values, true)).isEqualTo(vectors);
    assertThat(new Roofline(2, 1, Map.of("f32", 1.0)).bound(values, true)).isEqualTo(floats);
  }

  @Test
  void measuresWhatThisMachineCanDo() {
    Roofline roofline = Roofline.measure(1);
    assertThat(roofline.readBytesPerSecond()).isPositive();
    assertThat(roofline.productsPerSecond().values()).allMatch(each -> each > 0);
    assertThat(roofline.productsPerSecond().containsKey("bf16 amx"))
        .isEqualTo(Kernels.available(Tier.AMX));
  }
}

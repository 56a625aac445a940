package io.steelyard.engines.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tier;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AttentionProblemTest {
  private static AttentionProblem auto(long bytes) {
    return new AttentionProblem(
        8, 8, 64, AttentionProblem.AUTO, bytes, true, DataType.F32, Tier.REFERENCE, 1, true, true);
  }

  @ParameterizedTest
  @CsvSource({"512, 8", "1024, 8", "4096, 4", "16384, 1", "1048576, 1"})
  void automaticBatchesMakeSixteenThousandTokensAtMost(int length, int sequences) {
    assertThat(auto(Long.MAX_VALUE).shape(length).batch()).isEqualTo(sequences);
  }

  @Test
  void automaticBatchesAreNoLargerThanMemory() {
    // Queries, keys, values and results of 8 heads of 64, and a sum for each head.
    long sequence = 1024L * 8 * (4 * 64 * Float.BYTES + Float.BYTES);

    assertThat(auto(8 * sequence).shape(1024).batch()).isEqualTo(8);
    assertThat(auto(8 * sequence - 1).shape(1024).batch()).isEqualTo(7);
    assertThat(auto(2 * sequence).shape(1024).batch()).isEqualTo(2);
    assertThat(auto(0).shape(1024).batch()).isEqualTo(1);
  }

  @Test
  void optionsTellAllOfIt() {
    AttentionProblem problem = auto(123_456_789_012L);

    assertThat(AttentionProblem.of(problem.options("flash"))).isEqualTo(problem);
    Map<String, String> wrong = new HashMap<>(problem.options("flash"));
    wrong.put("heads", "8000000000");
    assertThatThrownBy(() -> AttentionProblem.of(wrong))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("heads=8000000000 is no number");
  }
}

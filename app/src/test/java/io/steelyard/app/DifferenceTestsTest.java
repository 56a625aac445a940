package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.record.Blocks;
import io.steelyard.reports.DetailTable;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

final class DifferenceTestsTest {
  @Test
  void whereNothingWasMeasuredNothingIsTested() throws IOException {
    assertThat(DifferenceTests.of(RunDetailsTest.plan(), Blocks.of(List.of()))).isEmpty();
  }

  @Test
  void testsThatCantReachTheirLevelSayHowManyBlocksTheyNeed() throws IOException {
    DetailTable table =
        DifferenceTests.of(RunDetailsTest.plan(), Blocks.of(RunDetailsTest.journal()))
            .orElseThrow();

    assertThat(table.rows())
        .isNotEmpty()
        .allSatisfy(
            row ->
                assertThat(row.subList(1, 6))
                    .containsExactly("1", "need ≥ 2", "need ≥ 4", "need ≥ 6", "–"));
  }
}

package io.steelyard.reports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.reports.Series.Block;
import java.util.List;
import org.junit.jupiter.api.Test;

class MarkdownReportTest {

  @Test
  void onlyBlocksThatCountAlthoughDisturbedAreSaidToBeShaded() {
    assertThat(page(List.of(block(1, false), block(2, true), block(3, true))))
        .contains("That is so of blocks 2, 3, shaded in the plot.");
    assertThat(page(List.of(block(1, false), block(2, false))))
        .contains("1 block measured again because the machine was disturbed")
        .contains("Every block shown here is undisturbed.")
        .doesNotContain("shaded");
  }

  @Test
  void aTableOfDetailsHasAsManyCellsAsHeaders() {
    assertThatThrownBy(() -> new DetailTable("t", List.of("a", "b"), List.of(List.of("1")), ""))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 cells under 2 headers");
  }

  private static Block block(int number, boolean disturbed) {
    return new Block(number, disturbed, List.of(), List.of(1.0));
  }

  private static String page(List<Block> blocks) {
    ReportInput typical = SampleRun.typical();
    ReportInput input =
        SampleRun.input(
            typical.summary(), List.of(new Series("steelyard", "pp512", "tok/s", blocks)));
    return MarkdownReport.render(input, new Plots.Result(List.of(), List.of()));
  }
}

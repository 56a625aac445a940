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

  @Test
  void columnsOfWordsStandAtTheLeftAndThoseWithNumbersAtTheRight() {
    DetailTable table =
        new DetailTable(
            "t",
            List.of("a", "words", "numbers", "intervals", "unknown"),
            List.of(
                List.of("1", "KV cache", "–", "", "–"), List.of("2", "heap", "3.1", "[2, 4]", "")),
            "");
    assertThat(List.of(0, 1, 2, 3, 4))
        .extracting(table::ofNumbers)
        .containsExactly(false, false, true, true, true);
  }

  @Test
  void aTableThatReadersOfMarkdownWouldNotSeeIsRefused() {
    List<String> headers = List.of("a", "b");
    List<List<String>> rows = List.of(List.of("1", "2"));
    assertThat(Markdown.table(headers, List.of(false, true), rows))
        .isEqualTo("| a | b |\n| --- | ---: |\n| 1 | 2 |\n");
    assertThatThrownBy(() -> Markdown.table(headers, List.of(false), rows))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Markdown.table(headers, List.of(false, true), List.of(List.of("1"))))
        .isInstanceOf(IllegalArgumentException.class);
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

package io.steelyard.reports;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.reports.terminal.DisplayWidth;
import io.steelyard.reports.terminal.Style;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** No table grows wider than it was told, whatever the run and the width. */
class TableWidthTest {

  static Stream<ReportInput> runs() {
    return Stream.of(
        SampleRun.typical(),
        SampleRun.withShares(),
        SampleRun.awkward(),
        SampleRun.grid(8, 5, 2),
        SampleRun.grid(1, 1, 1));
  }

  @ParameterizedTest
  @MethodSource("runs")
  void linesStayWithinTheWidth(ReportInput run) {
    IntStream.rangeClosed(Style.NARROWEST, 160)
        .forEach(
            width -> {
              for (boolean unicode : new boolean[] {true, false}) {
                Style style = new Style(width, false, unicode);
                Stream.of(
                        ComparisonTable.render(run.summary(), style),
                        ParityTable.render(run.summary(), style),
                        FairnessTable.render(run.summary(), style))
                    .flatMap(String::lines)
                    .forEach(
                        line ->
                            assertThat(DisplayWidth.of(line)).as(line).isLessThanOrEqualTo(width));
              }
            });
  }

  @ParameterizedTest
  @MethodSource("runs")
  void withoutUnicodeEveryCharacterIsAscii(ReportInput run) {
    Style ascii = new Style(80, false, false);
    assertThat(
            ComparisonTable.render(run.summary(), ascii)
                + ParityTable.render(run.summary(), ascii)
                + FairnessTable.render(run.summary(), ascii))
        .matches("[\\x20-\\x7e\\n]*");
  }

  @ParameterizedTest
  @MethodSource("runs")
  void coloursChangeNothingButColours(ReportInput run) {
    String plain = ComparisonTable.render(run.summary(), new Style(80, false, true));
    String coloured = ComparisonTable.render(run.summary(), new Style(80, true, true));
    assertThat(coloured).contains("\u001b[");
    assertThat(coloured.replaceAll("\u001b\\[[0-9]*m", "")).isEqualTo(plain);
  }

  @ParameterizedTest
  @MethodSource("runs")
  void noLineEndsInSpaces(ReportInput run) {
    List<String> lines =
        ComparisonTable.render(run.summary(), new Style(80, false, true)).lines().toList();
    assertThat(lines).noneMatch(line -> line.endsWith(" "));
  }
}

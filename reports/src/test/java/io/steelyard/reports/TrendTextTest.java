package io.steelyard.reports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.reports.TrendChart.Change;
import io.steelyard.reports.TrendChart.Effect;
import io.steelyard.reports.TrendChart.Level;
import io.steelyard.reports.TrendChart.Point;
import io.steelyard.reports.terminal.DisplayWidth;
import io.steelyard.reports.terminal.Style;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TrendTextTest {

  /** Runs at 100, then at 90, then on a line to 96. */
  static TrendChart typical(int runs) {
    int step = runs / 3;
    int drift = 2 * step;
    List<Point> points =
        IntStream.range(0, runs)
            .mapToObj(
                i -> {
                  double level =
                      i < step ? 100 : i < drift ? 90 : 90 + 6.0 * (i - drift) / (runs - 1 - drift);
                  double value = level + 0.5 * Math.sin(5.0 * i);
                  return new Point("day " + (i + 1), value, value - 1, value + 1);
                })
            .toList();
    return new TrendChart(
        "tg64 of steelyard",
        "model on a machine",
        "tok/s",
        points,
        List.of(
            new Level(0, step - 1, 100, 100),
            new Level(step, drift, 90, 90),
            new Level(drift, runs - 1, 90, 96)),
        List.of(
            new Change(step - 1, step, Effect.WORSE), new Change(drift, runs - 1, Effect.BETTER)));
  }

  private static TrendChart of(double... values) {
    return new TrendChart(
        "t",
        "s",
        "tok/s",
        Arrays.stream(values).mapToObj(v -> new Point("now", v, null, null)).toList(),
        List.of(),
        List.of());
  }

  @Test
  void looksLikeTheGoldenFile() {
    Golden.assertSame("trend.txt", TrendText.render(typical(30), new Style(80, false, true)));
    Golden.assertSame(
        "trend-ascii.txt", TrendText.render(typical(30), new Style(60, false, false)));
  }

  @Test
  void noLineIsWiderThanTheTerminal() {
    for (int runs : new int[] {3, 30, 333, 3000}) {
      for (int width : new int[] {40, 80, 200}) {
        String text = TrendText.render(typical(runs), new Style(width, false, true));
        assertThat(text.lines())
            .as("%d runs, %d columns", runs, width)
            .allSatisfy(line -> assertThat(DisplayWidth.of(line)).isLessThanOrEqualTo(width))
            .noneMatch(line -> line.endsWith(" "));
      }
    }
  }

  @Test
  void everyRunOfAShortTrendHasADotOfItsOwn() {
    String text = TrendText.render(typical(30), new Style(100, false, true));
    assertThat(text.chars().filter(c -> c == '•').count()).isEqualTo(30);
  }

  @Test
  void colourMarksWhatABetterAndAWorseChangeIs() {
    String text = TrendText.render(typical(30), new Style(80, true, true));
    assertThat(text).contains("\u001b[31m1!\u001b[0m", "\u001b[32m2+\u001b[0m");
  }

  @Test
  void equalValuesOneRunAndNegativeValuesCanBeDrawn() {
    Style style = new Style(40, false, true);
    assertThat(TrendText.render(of(5, 5, 5), style)).contains("•");
    assertThat(TrendText.render(of(0, 0), style)).contains("•");
    assertThat(TrendText.render(of(7), style)).contains("•");
    assertThat(TrendText.render(of(-3, 2e9, 1e-9), style)).contains("•");
    assertThatThrownBy(TrendTextTest::of).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void timesAndBytesAreInAUnitThatSuitsThem() {
    TrendChart bytes =
        new TrendChart(
            "memory",
            "",
            "B",
            List.of(new Point("a", 3e8, null, null), new Point("b", 3.1e8, null, null)),
            List.of(),
            List.of());
    assertThat(TrendText.render(bytes, new Style(80, false, true)))
        .startsWith("MB\n")
        .contains("310");
  }
}

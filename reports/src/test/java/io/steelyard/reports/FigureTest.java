package io.steelyard.reports;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FigureTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "1014.2; 12.4; 1,014 ± 12",
        "350.3; 5.1; 350 ± 5",
        "0.0123; 0.0004; 0.0123 ± 0.0004",
        "12345.6; 1234; 12,346 ± 1,234",
        "231; 0.096; 231.00 ± 0.10",
        "88.1; 0.62; 88.1 ± 0.6",
        "288.2; 0; 288.2 ± 0",
        "1014.2; 0.0000001; 1,014.200 ± <0.001"
      })
  void estimateIsRoundedToWhatItsIntervalSays(double estimate, double half, String text) {
    assertThat(Figure.plusMinus(estimate, estimate - half, estimate + half).text(""))
        .isEqualTo(text);
  }

  @Test
  void lopsidedIntervalIsShownByItsBounds() {
    assertThat(Figure.plusMinus(100.0, 99.0, 104.0).text("")).isEqualTo("100.0 [99.0, 104.0]");
  }

  @Test
  void estimateWithoutIntervalStandsAlone() {
    assertThat(Figure.plusMinus(1234.5, null, null).text("")).isEqualTo("1,235");
    assertThat(Figure.plusMinus(null, null, null)).isEqualTo(Figure.NONE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "0.3454; 0.3391; 0.3518; 0.345× [0.339, 0.352]",
        "1.84; 1.80; 1.88; 1.84× [1.80, 1.88]",
        "30.1; 29.2; 31.0; 30.1× [29.2, 31.0]",
        "0.05; 0.0489; 0.0512; 0.0500× [0.0489, 0.0512]",
        "1; 0.05; 20; 1.0× [0.050, 20]",
        "0.0000333; 0.0000329; 0.0000337; 0.0000333× [0.0000329, 0.0000337]"
      })
  void ratioKeepsTheDigitsThatItsBoundsNeed(double ratio, double low, double high, String text) {
    assertThat(Figure.brackets(ratio, low, high).text("×")).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "ms, 231, 1412, ms",
    "ms, 1412, 9800, s",
    "ms, 0.52, 0.9, µs",
    "ms, 0.52, 15600, ms",
    "MB, 288, 402, MB",
    "MB, 1288, 4402, GB",
    "tok/s, 0.01, 0.02, tok/s",
    "us, 20, 30, µs",
    "ms, 0, 30, ms"
  })
  void unitFollowsTheSmallestFigure(String unit, double smallest, double largest, String expected) {
    Figure.Scale scale = Figure.Scale.of(unit, smallest, largest);
    assertThat(scale.unit()).isEqualTo(expected);
  }

  @Test
  void scaleKeepsTheQuantity() {
    assertThat(Figure.Scale.of("ms", 1412, 9800).apply(1412.0)).isEqualTo(1.412);
    assertThat(Figure.Scale.of("ms", 0.5, 0.9).apply(0.5)).isEqualTo(500.0);
  }
}

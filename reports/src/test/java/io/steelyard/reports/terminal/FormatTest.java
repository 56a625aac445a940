package io.steelyard.reports.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FormatTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "0; 0 B",
        "999; 999 B",
        "1000; 1.00 kB",
        "999499; 999 kB",
        "999500; 1.00 MB",
        "98362432; 98.4 MB",
        "9223372036854775807; 9.22 EB",
        "-1500; -1.50 kB"
      })
  void bytes(long bytes, String text) {
    assertThat(Format.bytes(bytes)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "0; 0 ns",
        "999; 999 ns",
        "1500; 1.5 µs",
        "999499; 1,000 µs",
        "12000000; 12 ms",
        "850000000; 850 ms",
        "999500000; 1.0 s",
        "3200000000; 3.2 s",
        "59400000000; 59 s",
        "59600000000; 1 min",
        "92000000000; 1 min 32 s",
        "3599600000000; 1 h",
        "7500000000000; 2 h 5 min",
        "176400000000000; 2 d 1 h",
        "-1500; -1.5 µs"
      })
  void durations(long nanoseconds, String text) {
    assertThat(Format.duration(nanoseconds)).isEqualTo(text);
  }

  @Test
  void mostNegativeDurationDoesNotOverflow() {
    assertThat(Format.duration(Long.MIN_VALUE)).startsWith("-106751 d");
  }

  @Test
  void digits() {
    assertThat(Format.count(1_014)).isEqualTo("1,014");
    assertThat(Format.significant(0.05123, 3)).isEqualTo("0.0512");
    assertThat(Format.significant(1014.2, 3)).isEqualTo("1,010");
    assertThat(Format.significant(0.999, 2)).isEqualTo("1.0");
    assertThat(Format.significant(0, 3)).isEqualTo("0");
    assertThat(Format.decimals(-0.001, 2)).isEqualTo("0.00");
    assertThat(Format.decimals(1234.5, 1)).isEqualTo("1,234.5");
    assertThat(Format.compact(0.95)).isEqualTo("0.95");
    assertThat(Format.compact(10_000)).isEqualTo("10,000");
    assertThat(Format.compact(1.5)).isEqualTo("1.5");
    assertThat(Format.compact(1)).isEqualTo("1");
    assertThat(Format.percent(0.9844, 1)).isEqualTo("98.4 %");
  }

  @ParameterizedTest
  @CsvSource({"0.00231, 2.3e-3", "9.96e-7, 1.0e-6", "0, 0", "12.3, 1.2e1", "-0.00231, -2.3e-3"})
  void scientific(double value, String text) {
    assertThat(Format.scientific(value, 2)).isEqualTo(text);
  }

  @Test
  void whatIsNoNumberIsADash() {
    assertThat(Format.decimals(Double.NaN, 2)).isEqualTo("–");
    assertThat(Format.significant(Double.POSITIVE_INFINITY, 2)).isEqualTo("–");
    assertThat(Format.scientific(Double.NaN, 2)).isEqualTo("–");
    assertThat(Format.percent(Double.NaN, 2)).isEqualTo("–");
  }

  @Test
  void theHostsLocaleChangesNothing() {
    Locale before = Locale.getDefault();
    try {
      Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
      assertThat(Format.decimals(1234.5, 1)).isEqualTo("1,234.5");
      assertThat(Format.count(1234)).isEqualTo("1,234");
      assertThat(Format.significant(1234.5, 3)).isEqualTo("1,230");
    } finally {
      Locale.setDefault(before);
    }
  }
}

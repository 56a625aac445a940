package io.steelyard.reports.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class TerminalTest {

  @Test
  void aTerminalHasColoursAndItsOwnWidth() {
    Terminal terminal = terminal(true, OptionalInt.of(132), Map.of(), StandardCharsets.UTF_8);
    assertThat(terminal.interactive()).isTrue();
    assertThat(terminal.style()).isEqualTo(new Style(132, true, true));
  }

  @Test
  void aFileHasNoColoursAndAWidthOfItsOwn() {
    Terminal terminal = terminal(false, OptionalInt.empty(), Map.of(), StandardCharsets.UTF_8);
    assertThat(terminal.interactive()).isFalse();
    assertThat(terminal.style()).isEqualTo(Style.FILE);
  }

  @Test
  void noColorSwitchesColoursOffUnlessItIsEmpty() {
    assertThat(style(Map.of("NO_COLOR", "1")).colour()).isFalse();
    assertThat(style(Map.of("NO_COLOR", "")).colour()).isTrue();
  }

  @Test
  void aDumbTerminalIsTreatedLikeALog() {
    Terminal dumb =
        terminal(true, OptionalInt.of(80), Map.of("TERM", "dumb"), StandardCharsets.UTF_8);
    assertThat(dumb.interactive()).isFalse();
    assertThat(dumb.style().colour()).isFalse();
  }

  @Test
  void columnsOverrideTheWidthIfTheyAreANumber() {
    assertThat(style(Map.of("COLUMNS", "64")).width()).isEqualTo(64);
    assertThat(style(Map.of("COLUMNS", "3")).width()).isEqualTo(Style.NARROWEST);
    assertThat(style(Map.of("COLUMNS", "wide")).width()).isEqualTo(132);
    assertThat(style(Map.of("COLUMNS", "99999999999")).width()).isEqualTo(132);
  }

  @Test
  void charsetDecidesOnUnicode() {
    assertThat(
            terminal(true, OptionalInt.empty(), Map.of(), StandardCharsets.US_ASCII)
                .style()
                .unicode())
        .isFalse();
    assertThat(
            terminal(true, OptionalInt.empty(), Map.of(), StandardCharsets.ISO_8859_1)
                .style()
                .unicode())
        .isFalse();
  }

  @Test
  void anInvalidDescriptorIsNoTerminal() {
    assertThat(Tty.isTerminal(-1)).isFalse();
    assertThat(Tty.columns(-1)).isEmpty();
  }

  @Test
  void asciiSpellsTheSignsThatItKnows() {
    Style ascii = new Style(80, false, false);
    assertThat(ascii.adapt("1 ± 2 × 3 µs – é漢\u0301")).isEqualTo("1 +/- 2 x 3 us - ??");
  }

  private static Style style(Map<String, String> environment) {
    return terminal(true, OptionalInt.of(132), environment, StandardCharsets.UTF_8).style();
  }

  private static Terminal terminal(
      boolean tty, OptionalInt columns, Map<String, String> environment, Charset charset) {
    PrintStream stream = new PrintStream(new ByteArrayOutputStream(), true, charset);
    return Terminal.of(stream, tty, columns, environment);
  }
}

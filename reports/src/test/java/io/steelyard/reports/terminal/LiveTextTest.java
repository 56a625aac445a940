package io.steelyard.reports.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class LiveTextTest {
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();

  private LiveText text(boolean interactive, int width) {
    return LiveText.on(
        new Terminal(
            new PrintStream(written, true, StandardCharsets.UTF_8),
            interactive,
            new Style(width, false, true)));
  }

  private String written() {
    return written.toString(StandardCharsets.UTF_8);
  }

  @Test
  void eachTextTakesThePlaceOfTheOneBefore() {
    try (LiveText live = text(true, 40)) {
      live.show("░".repeat(41));
      live.show("ab\ncd");
      live.show("e");
    }
    assertThat(written())
        .isEqualTo("░".repeat(39) + "\n░░\u001b[1A\r\u001b[Jab\ncd\u001b[1A\r\u001b[Je\r\u001b[J");
  }

  @Test
  void aLongTextEndsWithHowMuchIsLeftOut() {
    try (LiveText live = text(true, 40)) {
      live.show("x\n".repeat(19) + "x");
    }
    assertThat(written()).startsWith("x\n".repeat(15) + "… 5 more lines\u001b[15A");
  }

  @Test
  void signsThatMoveTheCursorAreNotShown() {
    try (LiveText live = text(true, 40)) {
      live.show("a\u001b[2Jb\tc");
    }
    assertThat(written()).startsWith("a?[2Jb    c");
  }

  @Test
  void withoutATerminalNothingIsShown() {
    try (LiveText live = text(false, 40)) {
      live.show("a");
    }
    assertThat(written()).isEmpty();
  }
}

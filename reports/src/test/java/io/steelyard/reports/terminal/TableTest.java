package io.steelyard.reports.terminal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.reports.terminal.Table.Align;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class TableTest {

  private static final Style WIDE = new Style(80, false, true);

  @Test
  void columnsAlignWhateverTheScript() {
    String text =
        new Table(WIDE)
            .column("name", Align.LEFT)
            .column("n", Align.RIGHT)
            .row("漢字", "1")
            .row("e\u0301te\u0301", "22")
            .row("🙂", "333")
            .render();
    assertThat(text)
        .isEqualTo(
            """
            name    n
            ─────────
            漢字    1
            e\u0301te\u0301    22
            🙂    333
            """);
  }

  @Test
  void columnsMoveTogetherBeforeAnyTextWraps() {
    assertThat(rowOfFortyColumns(29)).isEqualTo("x".repeat(29) + " four  last\n");
    assertThat(rowOfFortyColumns(30)).isEqualTo("x".repeat(30) + " four last\n");
    assertThat(rowOfFortyColumns(31)).isEqualTo("x".repeat(31) + "     last\nfour\n");
  }

  private static String rowOfFortyColumns(int longestWord) {
    String table =
        new Table(new Style(40, false, true))
            .column("", Align.LEFT)
            .column("", Align.LEFT)
            .row("x".repeat(longestWord) + " four", "last")
            .render();
    return table.lines().skip(2).collect(Collectors.joining("\n", "", "\n"));
  }

  @Test
  void escapesInANameCannotMoveTheCursor() {
    String text = new Table(WIDE).column("name", Align.LEFT).row("a\u001b[2Jb\tc\u0007").render();
    assertThat(text).contains("a?[2Jb?c?").doesNotContain("\u001b");
  }

  @Test
  void aRowNeedsACellForEachColumn() {
    Table table = new Table(WIDE).column("a", Align.LEFT);
    assertThatThrownBy(() -> table.row("1", "2"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("2 cells for 1 columns");
  }

  @Test
  void labelsBreakBehindTheirSignsAndNumbersStayWhole() {
    assertThat(Wrap.lines("llamacpp:threads=2,flash=on", 12))
        .containsExactly("llamacpp:", "threads=2,", "flash=on");
    assertThat(Wrap.lines("1,014\u00a0±\u00a012 tok/s", 12))
        .containsExactly("1,014\u00a0±\u00a012", "tok/s");
    assertThat(Wrap.lines("", 5)).containsExactly("");
  }

  /** Whatever is in a table, it fits, loses no character and its rows stand in their columns. */
  @RepeatedTest(200)
  void randomTablesFitAndLoseNothing(RepetitionInfo repetition) {
    Random random = new Random(repetition.getCurrentRepetition());
    int columns = 1 + random.nextInt(7);
    Style style = new Style(Style.NARROWEST + random.nextInt(80), false, true);
    Table table = new Table(style);
    StringBuilder put = new StringBuilder();
    for (int i = 0; i < columns; i++) {
      String header = word(random);
      put.append(header);
      table.column(header, random.nextBoolean() ? Align.LEFT : Align.RIGHT);
    }
    for (int row = random.nextInt(5); row > 0; row--) {
      String[] cells = new String[columns];
      Arrays.setAll(cells, i -> word(random) + " " + word(random));
      Arrays.stream(cells).forEach(put::append);
      table.row(cells);
      if (random.nextBoolean()) {
        String note = word(random);
        put.append(note);
        table.note(random.nextInt(columns), note, Tone.DIM);
      }
    }
    List<String> lines = table.render().lines().toList();
    assertThat(lines)
        .as("seed %d", repetition.getCurrentRepetition())
        .allSatisfy(line -> assertThat(DisplayWidth.of(line)).isLessThanOrEqualTo(style.width()));
    String got = String.join("", lines).replaceAll("[─↳]", "");
    assertThat(letters(got)).isEqualTo(letters(put.toString()));
  }

  private static List<Integer> letters(String text) {
    return text.codePoints().filter(c -> c != ' ').sorted().boxed().toList();
  }

  private static String word(Random random) {
    String alphabet = "abcdefgh0123456789:,=_-漢字🙂é";
    int[] points = alphabet.codePoints().toArray();
    StringBuilder word = new StringBuilder();
    for (int i = random.nextInt(25); i >= 0; i--) {
      word.appendCodePoint(points[random.nextInt(points.length)]);
    }
    return word.toString();
  }
}

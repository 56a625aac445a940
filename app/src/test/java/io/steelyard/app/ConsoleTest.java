package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.reports.terminal.Style;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import io.steelyard.reports.terminal.Terminal;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ConsoleTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final Terminal terminal =
      new Terminal(
          new PrintStream(bytes, true, StandardCharsets.UTF_8), true, new Style(80, true, true));
  private final Console console = new Console(terminal, terminal);

  private String printed() {
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void aTablesColoursReachTheTerminal() {
    String table = new Table(console.style()).column("engine", Align.LEFT).render();

    console.table(table);

    assertThat(table).contains("\u001b[1mengine\u001b[0m");
    assertThat(printed()).isEqualTo(table);
  }

  @Test
  void whatOthersWroteHasNoControlCharacters() {
    console.result("a\u001b[31mb\u001b[2J");
    console.note("c\td");

    assertThat(printed().lines()).containsExactly("a?[31mb?[2J", "c?d");
  }
}

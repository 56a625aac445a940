package io.steelyard.app;

import io.steelyard.kernels.attention.Variants;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

@Command(
    name = "list",
    mixinStandardHelpOptions = true,
    description = {
      "Lists the variants of attention.",
      "",
      "docs/attention.md says which parameters each takes."
    },
    footer = {"", "Examples:", "  ./steelyard attention list"})
final class AttentionListCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    Console console = new Console();
    Table table = new Table(console.style());
    table.column("variant", Align.LEFT).column("what it is", Align.LEFT);
    Variants.descriptions().forEach((name, description) -> table.row(name, description));
    console.table(table.render());
    return ExitCode.FINE;
  }
}

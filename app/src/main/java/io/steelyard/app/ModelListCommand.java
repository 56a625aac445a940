package io.steelyard.app;

import io.steelyard.models.catalogue.ModelListing;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Table;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

@Command(
    name = "list",
    mixinStandardHelpOptions = true,
    description = "Names the models that can be asked for, and says which are in the cache.",
    footer = {"", "Example:", "  ./steelyard model list"})
final class ModelListCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    Console console = new Console();
    Table table =
        new Table(console.style())
            .column("name", Table.Align.LEFT)
            .column("also", Table.Align.LEFT)
            .column("size", Table.Align.RIGHT)
            .column("weights", Table.Align.LEFT)
            .column("in the cache", Table.Align.LEFT);
    for (ModelListing model : Models.resolver().list()) {
      table.row(
          model.name(),
          String.join(", ", model.aliases()),
          model.bytes() < 0 ? "–" : Format.bytes(model.bytes()),
          model.random() ? "random" : "real",
          model.cached().map(path -> path.toString()).orElse("no"));
    }
    console.result(table.render());
    console.result("A path of a GGUF file works everywhere a name does.");
    return ExitCode.FINE;
  }
}

package io.steelyard.app;

import io.steelyard.lab.record.Json;
import io.steelyard.models.catalogue.ModelListing;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Table;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "list",
    mixinStandardHelpOptions = true,
    description = "Names the models that can be asked for, and says which are in the cache.",
    footer = {"", "Example:", "  ./steelyard model list"})
final class ModelListCommand implements Callable<Integer> {
  @Option(names = "--json", description = "print one JSON document on stdout")
  boolean json;

  @Override
  public Integer call() {
    Console console = new Console();
    if (json) {
      console.result(
          Json.pretty(Models.resolver().list().stream().map(ModelListCommand::object).toList()));
      return ExitCode.FINE;
    }
    Table table =
        new Table(console.style())
            .column("name", Table.Align.LEFT)
            .column("also", Table.Align.LEFT)
            .column("size", Table.Align.RIGHT)
            .column("weights", Table.Align.LEFT)
            .column("licence", Table.Align.LEFT)
            .column("in the cache", Table.Align.LEFT);
    for (ModelListing model : Models.resolver().list()) {
      table.row(
          model.name(),
          String.join(", ", model.aliases()),
          model.bytes() < 0 ? "–" : (model.exact() ? "" : "~") + Format.bytes(model.bytes()),
          model.random() ? "random" : "real",
          model.licence(),
          model.cached().map(path -> path.toString()).orElse("no"));
    }
    console.table(table.render());
    console.result(
        "A path of a GGUF file, or of a folder with safetensors, works everywhere a name does.");
    return ExitCode.FINE;
  }

  private static Map<String, Object> object(ModelListing model) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("name", model.name());
    object.put("aliases", model.aliases());
    object.put("bytes", model.bytes() < 0 ? null : model.bytes());
    object.put("bytes_exact", model.exact());
    object.put("licence", model.licence().isEmpty() ? null : model.licence());
    object.put("weights", model.random() ? "random" : "real");
    object.put("cached", model.cached().map(Path::toString).orElse(null));
    return object;
  }
}

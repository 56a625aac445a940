package io.steelyard.app;

import io.steelyard.history.HistoryException;
import io.steelyard.history.HistoryStore;
import io.steelyard.history.RunReader;
import io.steelyard.history.RunRecord;
import io.steelyard.history.imports.Importers;
import io.steelyard.lab.environment.Environment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "import",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = "Adds run directories, and files that other benchmark tools have written.",
    footer = {
      "",
      "Formats: llama-bench-json, -jsonl, -csv, -sql and -md; jmh; hyperfine; pytest-benchmark;",
      "google-benchmark; vllm (benchmark_serving). All are JSON where nothing else is said.",
      "",
      "Examples:",
      "  ./steelyard history import runs/*",
      "  ./steelyard history import --here --format hyperfine times.json"
    })
final class HistoryImportCommand implements Callable<Integer> {
  @Mixin HistoryPlace history;

  @Parameters(
      arity = "1..*",
      paramLabel = "FILE",
      description = "files, or run directories of Steelyard")
  List<Path> files;

  @Option(
      names = "--format",
      paramLabel = "NAME",
      defaultValue = "auto",
      description = "the files' format; auto: told by their first lines")
  String format;

  @ArgGroup Machine machine;

  /** On what the files were made, which most don't say well enough. */
  static final class Machine {
    @Option(names = "--here", description = "the files were made on this machine")
    boolean here;

    @Option(
        names = "--machine",
        paramLabel = "NAME",
        description = "the files were made on a machine that you call so")
    String name;
  }

  @Override
  public Integer call() {
    Console console = new Console();
    int refused = 0;
    try (HistoryStore store = history.open()) {
      for (Path file : files) {
        // Each file is added as a whole or not at all, whatever is wrong with another.
        try {
          read(file).forEach(run -> add(store, run, console));
        } catch (HistoryException e) {
          console.note(e.getMessage());
          refused++;
        }
      }
    }
    if (refused > 0 && files.size() > 1) {
      console.note("%d of %d could not be added".formatted(refused, files.size()));
    }
    return refused == 0 ? ExitCode.FINE : ExitCode.FAILED;
  }

  private static void add(HistoryStore store, RunRecord run, Console console) {
    String said =
        switch (store.add(run)) {
          case ADDED -> "added";
          case REPLACED -> "added again, with what came to it since";
          case ALREADY_THERE -> "is there already";
        };
    console.result(run.name() + ": " + said);
  }

  private List<RunRecord> read(Path file) {
    if (Files.isDirectory(file)) {
      return List.of(RunReader.read(file));
    }
    List<RunRecord> read =
        format.equals("auto") ? Importers.read(file) : Importers.of(format).read(file);
    return machine == null ? read : read.stream().map(run -> run.on(hardware(machine))).toList();
  }

  private static Map<String, Object> hardware(Machine machine) {
    if (!machine.here) {
      return Map.of("name", machine.name);
    }
    Map<String, Object> hardware = new LinkedHashMap<>();
    if (Environment.read(Home.path()).get("hardware") instanceof Map<?, ?> present) {
      present.forEach((key, value) -> hardware.put(key.toString(), value));
    }
    return hardware;
  }
}

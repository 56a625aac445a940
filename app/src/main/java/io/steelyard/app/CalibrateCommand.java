package io.steelyard.app;

import io.steelyard.kernels.Roofline;
import io.steelyard.lab.record.Json;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "calibrate",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Measures what this machine can do, and keeps it for the runs that follow.",
      "",
      "With --roofline: how fast it reads memory and multiplies at best. From then on every report"
          + " of a run with as many threads says what share of that each prefill and decode is. Nothing else"
          + " should run meanwhile; a later calibration replaces it."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard calibrate --roofline",
      "  ./steelyard calibrate --roofline --threads 1 --json"
    })
final class CalibrateCommand implements Callable<Integer> {
  @Option(names = "--roofline", description = "measure the limits of memory and arithmetic (2 s)")
  boolean roofline;

  @Mixin ThreadsOption threads;

  @Option(names = "--json", description = "print the limits as JSON")
  boolean json;

  @Override
  public Integer call() {
    if (!roofline) {
      throw new UsageException("calibrate needs to know what: there is --roofline");
    }
    int team = threads.count();
    Console console = new Console();
    console.note("Reading and multiplying for about two seconds");
    Roofline limits = Roofline.measure(team);
    Calibration calibration = Calibration.of(Home.cache());
    calibration.keep(limits);
    console.result(json ? Json.pretty(limits) : RooflineTable.text(limits));
    console.note("Kept in " + calibration.file(team));
    return ExitCode.FINE;
  }
}

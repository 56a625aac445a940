package io.steelyard.app;

import io.steelyard.kernels.Roofline;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "bandwidth",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = "Measures how fast this machine reads memory and multiplies, at best.",
    footer = {"", "Example:", "  ./steelyard bench bandwidth --threads 2"})
final class BandwidthCommand implements Callable<Integer> {
  @Option(
      names = {"-t", "--threads"},
      paramLabel = "N",
      defaultValue = "0",
      description = "threads; 0: all processors")
  int threads;

  @Override
  public Integer call() {
    StudyOptions.between("--threads", threads, 0, 1024);
    int team = threads == 0 ? Runtime.getRuntime().availableProcessors() : threads;
    Console console = new Console();
    console.note("Reading and multiplying for about two seconds");
    console.result(RooflineTable.text(Roofline.measure(team)));
    return ExitCode.FINE;
  }
}

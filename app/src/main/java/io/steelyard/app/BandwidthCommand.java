package io.steelyard.app;

import io.steelyard.kernels.Roofline;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
    name = "bandwidth",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = "Measures how fast this machine reads memory and multiplies, at best.",
    footer = {"", "Example:", "  ./steelyard bench bandwidth --threads 2"})
final class BandwidthCommand implements Callable<Integer> {
  @Mixin ThreadsOption threads;

  @Override
  public Integer call() {
    int team = threads.count();
    Console console = new Console();
    console.note("Reading and multiplying for about two seconds");
    console.result(RooflineTable.text(Roofline.measure(team)));
    return ExitCode.FINE;
  }
}

package io.steelyard.app;

import io.steelyard.lab.study.Study;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What `compare` and `regress` are told of a comparison. */
final class ComparisonOptions {
  @Option(
      names = "--metrics",
      split = ",",
      paramLabel = "METRIC",
      description =
          "what to measure (default: prefill,decode,coldstart,load,memory, or those of the gate)")
  private List<String> metrics;

  @Option(
      names = "--gate",
      paramLabel = "FILE",
      description =
          "margins of single metrics and bounds of quality, as docs/examples/gate.yaml has them; exits 3"
              + " where one is broken, 4 where that is undecided")
  private Path gateFile;

  @Mixin VerdictOptions verdict;

  /** What to measure, all of it known. */
  List<String> metrics() {
    return metrics(Study.METRICS);
  }

  /**
   * The same.
   *
   * @param usual where nobody says
   */
  List<String> metrics(List<String> usual) {
    if (metrics == null) {
      List<String> bounded =
          gate()
              .map(gate -> Study.METRICS.stream().filter(gate.margins()::containsKey).toList())
              .orElse(List.of());
      return bounded.isEmpty() ? usual : bounded;
    }
    for (String metric : metrics) {
      if (!Study.METRICS.contains(metric)) {
        throw new UsageException(
            "--metrics " + metric + " is unknown: there are " + String.join(", ", Study.METRICS));
      }
    }
    return metrics;
  }

  /** What may not happen. */
  Optional<Gate> gate() {
    return Optional.ofNullable(gateFile).map(file -> Gate.read(file, verdict.margin));
  }
}

package io.steelyard.app;

import io.steelyard.lab.study.Study;
import java.util.List;
import picocli.CommandLine.Option;

/** What `compare` and `regress` are told of a comparison. */
final class ComparisonOptions {
  @Option(
      names = "--metrics",
      split = ",",
      paramLabel = "METRIC",
      defaultValue = "prefill,decode,coldstart,load,memory",
      description = "what to measure")
  private List<String> metrics;

  @Option(
      names = "--margin",
      paramLabel = "SHARE",
      defaultValue = StudyOptions.MARGIN + "",
      converter = Converters.Share.class,
      description = "the change that matters")
  double margin;

  @Option(names = "--json", description = "print summary.json on stdout instead of the tables")
  boolean json;

  /** What to measure, all of it known. */
  List<String> metrics() {
    for (String metric : metrics) {
      if (!Study.METRICS.contains(metric)) {
        throw new UsageException(
            "--metrics " + metric + " is unknown: there are " + String.join(", ", Study.METRICS));
      }
    }
    return metrics;
  }
}

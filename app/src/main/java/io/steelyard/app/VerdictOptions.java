package io.steelyard.app;

import picocli.CommandLine.Option;

/** How ratios are judged, and how what came of it is printed. */
final class VerdictOptions {
  @Option(
      names = "--margin",
      paramLabel = "SHARE",
      defaultValue = DesignOptions.MARGIN + "",
      converter = Converters.Share.class,
      description = "the change that matters")
  double margin;

  @Option(names = "--json", description = "print summary.json on stdout instead of the tables")
  boolean json;
}

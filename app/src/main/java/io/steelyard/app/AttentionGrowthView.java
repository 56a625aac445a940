package io.steelyard.app;

import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import java.util.List;
import java.util.Optional;

/** How the time of variants of attention grows with the length, and where they overtake. */
record AttentionGrowthView(List<Row> rows) implements StudyView {
  /**
   * One variant.
   *
   * @param exponent of the length in the time, the slope of a line through the logarithms of both
   * @param low lower bound of its 95 % interval over blocks; null where there is none
   * @param high upper bound; null likewise
   * @param crossover length from which on the variant is faster than the baseline, where the two
   *     lines meet; null of the baseline and where they don't meet
   * @param crossoverLow lower bound of its interval; null likewise
   * @param crossoverHigh upper bound; null likewise
   */
  record Row(
      String variant,
      int lengths,
      double exponent,
      Double low,
      Double high,
      Double crossover,
      Double crossoverLow,
      Double crossoverHigh) {}

  static Optional<StudyView> of(RunDirectory directory, StudyRun.Outcome outcome) {
    if (!AttentionCurves.isOf(directory.plan())) {
      return Optional.empty();
    }
    AttentionCurves curves = AttentionCurves.of(directory, outcome.blocks());
    AttentionGrowth growth = new AttentionGrowth(curves);
    List<Row> rows =
        growth.variants().stream().map(variant -> row(growth, variant, curves.baseline())).toList();
    return rows.isEmpty() ? Optional.empty() : Optional.of(new AttentionGrowthView(rows));
  }

  private static Row row(AttentionGrowth growth, String variant, String baseline) {
    AttentionGrowth.Estimate exponent = growth.exponent(variant);
    Optional<AttentionGrowth.Estimate> crossover = growth.crossover(variant, baseline);
    return new Row(
        variant,
        growth.lengths(variant),
        exponent.value(),
        exponent.low(),
        exponent.high(),
        crossover.map(AttentionGrowth.Estimate::value).orElse(null),
        crossover.map(AttentionGrowth.Estimate::low).orElse(null),
        crossover.map(AttentionGrowth.Estimate::high).orElse(null));
  }

  @Override
  public String name() {
    return "growth";
  }

  @Override
  public DetailTable table() {
    return new DetailTable(
        "Growth with the length",
        List.of("variant", "lengths", "exponent", "95 %", "faster from", "95 %"),
        rows.stream()
            .map(
                row ->
                    List.of(
                        row.variant(),
                        Integer.toString(row.lengths()),
                        Format.decimals(row.exponent(), 2),
                        row.low() == null
                            ? ""
                            : "[%s, %s]"
                                .formatted(
                                    Format.decimals(row.low(), 2), Format.decimals(row.high(), 2)),
                        row.crossover() == null ? "" : tokens(row.crossover()),
                        row.crossoverLow() == null
                            ? ""
                            : "[%s, %s]"
                                .formatted(
                                    tokens(row.crossoverLow()), tokens(row.crossoverHigh()))))
            .toList(),
        "Exponent: the slope of a line through the logarithms of time and length, of each block by"
            + " itself; 1 where the time grows as the length does, 2 where as its square. Faster"
            + " from: the length at which the variant's line falls below the baseline's, which may"
            + " lie outside of what was measured. Where segments follow the length the exponent"
            + " mixes cost models.");
  }

  private static String tokens(double length) {
    return Format.significant(length, 2);
  }
}

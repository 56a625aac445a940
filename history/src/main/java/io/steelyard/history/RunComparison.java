package io.steelyard.history;

import java.util.List;

/**
 * Two runs side by side. They were made at different times: what the machine did in between is in
 * the ratios, and no interval tells it. Measuring both sides in one run is surer.
 *
 * @param rows the cells that both have
 * @param onlySubject cells that the baseline lacks, as {@code label, metric}
 * @param onlyBaseline cells that the subject lacks
 */
public record RunComparison(
    StoredRun subject,
    StoredRun baseline,
    List<Row> rows,
    List<String> onlySubject,
    List<String> onlyBaseline) {

  /**
   * One metric of one label in both.
   *
   * @param subject the subject's mean; null where it failed
   * @param baseline the baseline's mean; null where it failed
   * @param ratio turned so that above 1 the subject is better; null where nothing could be computed
   * @param low lower bound of its 95 % interval; null where the forks don't allow one
   * @param high upper bound; null likewise
   * @param verdict {@code faster}, {@code slower}, {@code equivalent}, {@code inconclusive} or
   *     {@code not comparable}
   * @param note why; empty where there is nothing to say
   */
  public record Row(
      String label,
      String metric,
      String model,
      String precision,
      String unit,
      String better,
      Double subject,
      Double baseline,
      Double ratio,
      Double low,
      Double high,
      String verdict,
      String note) {}
}

package io.steelyard.history;

import java.time.Instant;
import java.util.List;

/**
 * One metric of one label over time, all points of equal hardware, model, precision and settings.
 *
 * @param series what all points share
 * @param points the oldest first
 * @param elsewhere how many other values of the metric fit the query, but were made on other or
 *     unknown hardware, or of another label, model, precision or settings
 */
public record Trend(Series series, List<Point> points, int elsewhere) {
  public Trend {
    points = List.copyOf(points);
  }

  /**
   * What makes values comparable over time.
   *
   * @param better {@code higher}, {@code lower} or {@code unknown}
   * @param hardware fingerprint
   * @param settings what every engine was told
   */
  public record Series(
      String metric,
      String unit,
      String better,
      String label,
      String engine,
      String model,
      String modelSha256,
      String precision,
      String settings,
      String hardware,
      String processor) {}

  /**
   * What one run found.
   *
   * @param run the run's number
   * @param low lower bound of the mean's 95 % interval; null where there is none
   * @param high upper bound; null likewise
   */
  public record Point(
      long run,
      String name,
      Instant started,
      RunRecord.Commit commit,
      double mean,
      Double low,
      Double high,
      int forks,
      int trials,
      String state) {}
}

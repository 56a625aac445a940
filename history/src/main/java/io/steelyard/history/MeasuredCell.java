package io.steelyard.history;

import io.steelyard.lab.record.Summary;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * One metric of one label with the calls behind it.
 *
 * <p>Of another tool's cell, {@code better} may be {@code unknown}, {@code sd} is what the tool
 * calls the standard deviation, and an interval stands where its trials allow Steelyard's own.
 *
 * @param figures what was found; every number finite, the interval the right way up
 * @param values the calls, in any order; empty where the source tells only figures
 */
public record MeasuredCell(Summary.Cell figures, List<TimedValue> values) {
  public MeasuredCell {
    values = List.copyOf(values);
    Summary.Cell f = figures;
    if (f.low() != null && f.high() != null && f.low() > f.high()) {
      throw new HistoryException(
          "the interval of %s, %s is upside down: %s to %s"
              .formatted(f.label(), f.metric(), f.low(), f.high()));
    }
    Stream.of(f.mean(), f.median(), f.sd(), f.min(), f.max(), f.low(), f.high(), f.roofline())
        .filter(Objects::nonNull)
        .filter(value -> !Double.isFinite(value))
        .findFirst()
        .ifPresent(
            value -> {
              throw new HistoryException(
                  "a figure of %s, %s is %s".formatted(f.label(), f.metric(), value));
            });
  }
}

package io.steelyard.history.imports;

import io.steelyard.history.HistoryException;
import io.steelyard.history.MeasuredCell;
import io.steelyard.history.RunRecord;
import io.steelyard.history.Sha256;
import io.steelyard.history.TimedValue;
import io.steelyard.lab.RunException;
import io.steelyard.lab.record.Summary;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.Quantiles;
import io.steelyard.stats.Sample;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What all importers make of what they read: cells with figures, and a run of them. */
final class Imported {
  static final String HIGHER = "higher";
  static final String LOWER = "lower";

  /** For counters whose direction their tool doesn't tell. */
  static final String UNKNOWN = "unknown";

  static final String STEADY = "steady";
  static final String FAILED = "failed";

  /** From here on resampling takes long, and the interval is narrow anyway. */
  private static final int MOST_FORKS = 1_000;

  private static final long SEED = 20_251_127;

  private Imported() {}

  /**
   * What was measured.
   *
   * @param model empty where no model was
   * @param precision empty where not known
   */
  record Subject(String label, String engine, String model, String precision) {}

  /** A metric with its unit and direction. */
  record Measure(String metric, String unit, String better) {}

  /** A tool's figures; null what it doesn't tell. */
  record Figures(Double mean, Double median, Double sd, Double min, Double max) {
    static final Figures NONE = new Figures(null, null, null, null, null);

    /** Only a mean with its standard deviation. */
    static Figures of(double mean, Double sd) {
      return new Figures(mean, null, sd, null, null);
    }

    /** As many tools write them: an object with a {@code mean} and perhaps the others. */
    static Figures of(JsonPlace object) {
      return new Figures(
          object.get("mean").amount(),
          object.amountOrNull("median"),
          object.amountOrNull("stddev"),
          object.amountOrNull("min"),
          object.amountOrNull("max"));
    }

    /** From the calls themselves; at least one. */
    static Figures of(double[] values) {
      double sum = 0;
      double min = values[0];
      double max = values[0];
      for (double value : values) {
        sum += value;
        min = Math.min(min, value);
        max = Math.max(max, value);
      }
      double mean = sum / values.length;
      double squares = 0;
      for (double value : values) {
        squares += (value - mean) * (value - mean);
      }
      Double sd = values.length < 2 ? null : Math.sqrt(squares / (values.length - 1));
      return new Figures(mean, Quantiles.median(values), sd, min, max);
    }

    /** These, and what they don't tell from others. */
    Figures or(Figures others) {
      return new Figures(
          mean == null ? others.mean : mean,
          median == null ? others.median : median,
          sd == null ? others.sd : sd,
          min == null ? others.min : min,
          max == null ? others.max : max);
    }
  }

  /**
   * A cell.
   *
   * @param values its calls; what the figures lack is taken from them
   * @param figures what the tool says
   */
  static MeasuredCell cell(
      Subject subject, Measure measure, List<TimedValue> values, Figures figures, String state) {
    Map<Integer, List<Double>> forks = new LinkedHashMap<>();
    for (TimedValue value : values) {
      if (value.isCountedTrial()) {
        forks.computeIfAbsent(value.fork(), f -> new ArrayList<>()).add(value.value());
      }
    }
    double[][] byFork =
        forks.values().stream()
            .map(trials -> trials.stream().mapToDouble(Double::doubleValue).toArray())
            .toArray(double[][]::new);
    Optional<Sample> sample =
        byFork.length == 0 ? Optional.empty() : Optional.of(Sample.of(byFork));
    Optional<Interval> interval =
        sample
            .filter(s -> s.forks() >= 2 && s.forks() <= MOST_FORKS)
            .flatMap(s -> Intervals.mean(s, SEED));
    Figures all = figures.or(sample.map(s -> Figures.of(s.allTrials())).orElse(Figures.NONE));
    return new MeasuredCell(
        new Summary.Cell(
            subject.label,
            subject.engine,
            subject.model,
            subject.precision,
            measure.metric,
            measure.unit,
            measure.better,
            all.mean,
            all.median,
            all.sd,
            all.min,
            all.max,
            interval.map(Interval::low).orElse(null),
            interval.map(Interval::high).orElse(null),
            byFork.length,
            sample.map(Sample::trials).orElse(0),
            state,
            0,
            null),
        values);
  }

  /** Trials of one process. */
  static List<TimedValue> trials(double[] values) {
    List<TimedValue> trials = new ArrayList<>(values.length);
    for (int i = 0; i < values.length; i++) {
      trials.add(TimedValue.trial(1, i, values[i]));
    }
    return trials;
  }

  /**
   * A run of what a file holds.
   *
   * @param which tells runs of one file apart; 0 where it has one
   * @param started empty where the file doesn't tell: then it is the file's own time
   * @param weights {@code real}, {@code random} or {@code unknown}
   */
  static RunRecord run(
      Path file,
      byte[] bytes,
      int which,
      String source,
      Optional<Instant> started,
      String command,
      String weights,
      RunRecord.Commit commit,
      Map<String, Object> environment,
      List<MeasuredCell> cells) {
    long values = 0;
    for (MeasuredCell cell : cells) {
      values += cell.values().size();
    }
    if (values > Bounds.VALUES) {
      throw new HistoryException(
          "%s holds %,d timed calls; at most %,d are read".formatted(file, values, Bounds.VALUES));
    }
    List<String> models =
        cells.stream().map(cell -> cell.figures().model()).distinct().limit(2).toList();
    String content = Sha256.of(bytes, Integer.toString(which).getBytes(StandardCharsets.US_ASCII));
    return new RunRecord(
        name(file),
        source,
        started.orElseGet(() -> modified(file)),
        command,
        new RunRecord.Model(models.size() == 1 ? models.getFirst() : "several", "", weights),
        "",
        commit,
        environment,
        content,
        content,
        0,
        distinct(cells),
        List.of());
  }

  /** No two cells of a run may be taken for one another. */
  private static List<MeasuredCell> distinct(List<MeasuredCell> cells) {
    record Key(String label, String model, String precision, String metric) {}
    Map<Key, Integer> seen = new LinkedHashMap<>();
    List<MeasuredCell> distinct = new ArrayList<>(cells.size());
    for (MeasuredCell cell : cells) {
      Summary.Cell f = cell.figures();
      int count =
          seen.merge(new Key(f.label(), f.model(), f.precision(), f.metric()), 1, Integer::sum);
      distinct.add(count == 1 ? cell : labelled(cell, f.label() + " (" + count + ")"));
    }
    return distinct;
  }

  private static MeasuredCell labelled(MeasuredCell cell, String label) {
    Summary.Cell f = cell.figures();
    return new MeasuredCell(
        new Summary.Cell(
            label,
            f.engine(),
            f.model(),
            f.precision(),
            f.metric(),
            f.unit(),
            f.better(),
            f.mean(),
            f.median(),
            f.sd(),
            f.min(),
            f.max(),
            f.low(),
            f.high(),
            f.forks(),
            f.trials(),
            f.state(),
            f.disturbed(),
            f.roofline()),
        cell.values());
  }

  /** A file's name without its ending. */
  private static String name(Path file) {
    String name = Bounds.clean(file.toString(), file.toAbsolutePath().getFileName().toString());
    int dot = name.lastIndexOf('.');
    return dot > 0 ? name.substring(0, dot) : name;
  }

  private static Instant modified(Path file) {
    try {
      return Files.getLastModifiedTime(file).toInstant();
    } catch (IOException e) {
      throw new HistoryException("can't read " + file + ": " + RunException.reason(e), e);
    }
  }
}

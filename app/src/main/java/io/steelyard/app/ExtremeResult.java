package io.steelyard.app;

import io.steelyard.lab.RunException;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.run.BenchmarkRun;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;

/** What the run of one length found. */
record ExtremeResult(Summary summary, Map<?, ?> counts, Blocks blocks) {
  private static final String JOURNAL = "trials.jsonl";

  /**
   * What was measured of a variant.
   *
   * @param seconds of a pass
   * @param low lower bound of its 95 % interval; null with one process
   * @param high upper bound; null likewise
   * @param scratchBytes the most scratch memory that was held, by count
   * @param peakBytes largest resident memory of the process
   * @param rowsChecked rows that were held to the definition before it was timed
   * @param error their relative error
   */
  record Measured(
      double seconds,
      Double low,
      Double high,
      long scratchBytes,
      double peakBytes,
      long rowsChecked,
      double error) {}

  static ExtremeResult of(Path run) {
    Path counts = run.resolve(BenchmarkRun.COUNTS);
    return new ExtremeResult(
        TitledRuns.summary(run),
        Files.exists(counts) ? read(counts, Map.class) : Map.of(),
        Blocks.of(Journal.read(run.resolve(JOURNAL))));
  }

  /** Whether a run was begun for exactly these variants. */
  static boolean isOf(Path run, List<String> variants) {
    return read(run.resolve("plan.json"), Study.class)
        .engines()
        .keySet()
        .equals(new LinkedHashSet<>(variants));
  }

  /** Whether a run has ended well: what hasn't may have been stopped with the command. */
  static boolean isWhole(Path run) {
    return Files.exists(run.resolve("summary.json"))
        && TitledRuns.summary(run).parity().stream().allMatch(Summary.Parity::pass);
  }

  private static <T> T read(Path file, Class<T> type) {
    try {
      return Json.read(Files.readString(file), type);
    } catch (IOException | JacksonException e) {
      throw new RunException("can't read %s: %s".formatted(file, e.getMessage()), e);
    }
  }

  Optional<Measured> measured(String variant) {
    return summary.cells().stream()
        .filter(cell -> cell.label().equals(variant) && cell.mean() != null)
        .findFirst()
        .map(cell -> measured(cell, variant));
  }

  private Measured measured(Summary.Cell cell, String variant) {
    Collection<ForkRecord> forks =
        blocks.sound(new Cell(variant, Workload.operation(cell.metric()))).values();
    return new Measured(
        cell.mean() / 1e9,
        cell.low() == null ? null : Double.valueOf(cell.low() / 1e9),
        cell.high() == null ? null : Double.valueOf(cell.high() / 1e9),
        count(variant, cell.metric(), "scratch_bytes"),
        forks.stream().mapToLong(fork -> fork.end().peakBytes()).average().orElse(Double.NaN),
        count(variant, cell.metric(), "rows_checked"),
        count(variant, cell.metric(), "relative_error_e12") / 1e12);
  }

  private long count(String variant, String length, String name) {
    return counts.get(variant) instanceof Map<?, ?> ofVariant
            && ofVariant.get(length) instanceof Map<?, ?> ofLength
            && ofLength.get(name) instanceof Number number
        ? number.longValue()
        : 0;
  }

  /** Why a variant failed; empty where nothing is known to be wrong with it. */
  Optional<String> failure(String variant) {
    return Stream.concat(
            summary.parity().stream()
                .filter(parity -> parity.label().equals(variant) && !parity.pass())
                .map(Summary.Parity::note),
            summary.cells().stream()
                .filter(cell -> cell.label().equals(variant))
                .map(cell -> new Cell(variant, Workload.operation(cell.metric())))
                .flatMap(cell -> blocks.failures(cell).stream()))
        .findFirst();
  }
}

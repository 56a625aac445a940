package io.steelyard.app;

import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.kernels.attention.AttentionShape;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.run.BenchmarkRun;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.LineChart;
import io.steelyard.reports.terminal.Format;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Variants of attention over lengths.
 *
 * @param title what all rows share
 * @param rows by length, then by variant
 * @param leftOut a sentence for each cell that wasn't measured
 * @param ofLimit what the rows' shares are of, or how to have them
 */
record AttentionView(String title, List<Row> rows, List<String> leftOut, String ofLimit)
    implements StudyView {
  static final String BASELINE = "baseline";

  /**
   * One variant at one length.
   *
   * @param milliseconds of a forward pass
   * @param low lower bound of its 95 % interval; null where there is none
   * @param high upper bound; null likewise
   * @param tokensPerSecond of all sequences
   * @param speedup against the baseline; null of the baseline and where there is none
   * @param speedupLow lower bound of its interval; null likewise
   * @param speedupHigh upper bound; null likewise
   * @param verdict on it; {@value #BASELINE} of the baseline
   * @param density share of the keys that queries see by the definition, over the rows that were
   *     checked; null of a program that doesn't count, as are the next five
   * @param executed scores computed, those of choosing what is seen too, as a share of dense
   *     attention's
   * @param flops of a pass: 4 × dimension for each score attended, 2 × dimension for each that was
   *     computed to choose
   * @param gigaflops the same a second
   * @param bytesMoved of a pass
   * @param scratchBytes the most scratch memory it held
   * @param ofLimit share of the machine's roofline: the least time that the scores computed and the
   *     bytes moved take, by its measured limits; null where these weren't measured
   * @param peakBytes largest resident memory of the process; null where variants shared it
   * @param error relative to the definition, over the rows that were checked; null likewise
   */
  record Row(
      String variant,
      String length,
      double milliseconds,
      Double low,
      Double high,
      double tokensPerSecond,
      Double speedup,
      Double speedupLow,
      Double speedupHigh,
      String verdict,
      Double density,
      Double executed,
      Double flops,
      Double gigaflops,
      Double bytesMoved,
      Double scratchBytes,
      Double ofLimit,
      Double peakBytes,
      Double error) {
    /** Whether the others are compared with it. */
    boolean isBaseline() {
      return verdict.equals(BASELINE);
    }
  }

  static Optional<StudyView> of(RunDirectory directory, StudyRun.Outcome outcome) {
    Study study = directory.plan();
    if (study.engines().values().stream()
        .noneMatch(engine -> engine.name().equals(AttentionProblem.ENGINE))) {
      return Optional.empty();
    }
    Map<?, ?> counts =
        Files.exists(directory.path().resolve(BenchmarkRun.COUNTS))
            ? directory.read(BenchmarkRun.COUNTS, Map.class)
            : Map.of();
    List<Row> rows = new ArrayList<>();
    for (Workload workload : study.workloads()) {
      for (String label : study.engines().keySet()) {
        Map<?, ?> ofLabel = counts.get(label) instanceof Map<?, ?> all ? all : Map.of();
        Map<?, ?> ofCell = ofLabel.get(workload.title()) instanceof Map<?, ?> all ? all : Map.of();
        row(study, outcome, new Cell(label, workload), ofCell).ifPresent(rows::add);
      }
    }
    return rows.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new AttentionView(
                study.model().name(),
                rows,
                study.leftOut().orElse(Map.of()).values().stream().sorted().toList(),
                ofLimit(study)));
  }

  private static String ofLimit(Study study) {
    return study
        .limits()
        .map(
            limits ->
                limits.productsPerSecond() > 0
                    ? RooflineTable.measured(limits)
                        + " It is what scores computed and bytes moved need; over 100 % caches held"
                        + " what was moved."
                    : "Of limit: this processor's peak of products isn't known.")
        .orElseGet(() -> RooflineTable.advice(problem(study, study.baseline()).threads()) + ".");
  }

  private static AttentionProblem problem(Study study, String label) {
    return AttentionProblem.of(study.engines().get(label).options());
  }

  private static Optional<Row> row(
      Study study, StudyRun.Outcome outcome, Cell cell, Map<?, ?> counts) {
    String length = cell.workload().title();
    List<ForkRecord> forks = List.copyOf(outcome.blocks().sound(cell).values());
    Optional<Summary.Cell> found =
        outcome.summary().cells().stream()
            .filter(c -> c.label().equals(cell.label()) && c.metric().equals(length))
            .filter(c -> c.mean() != null)
            .findFirst();
    if (forks.isEmpty() || found.isEmpty()) {
      return Optional.empty();
    }
    Optional<Summary.Comparison> compared =
        outcome.summary().comparisons().stream()
            .filter(c -> c.subject().equals(cell.label()) && c.metric().equals(length))
            .findFirst();
    AttentionShape shape = problem(study, cell.label()).shape(AttentionProblem.length(length));
    double nanos = found.get().mean();
    Double scores = count(counts, "scores");
    Double flops = flops(counts, shape.dimension());
    return Optional.of(
        new Row(
            cell.label(),
            length,
            nanos / 1e6,
            scaled(found.get().low(), 1e-6),
            scaled(found.get().high(), 1e-6),
            1e9 * shape.batch() * shape.length() / nanos,
            compared.map(Summary.Comparison::ratio).orElse(null),
            compared.map(Summary.Comparison::low).orElse(null),
            compared.map(Summary.Comparison::high).orElse(null),
            cell.label().equals(study.baseline())
                ? BASELINE
                : compared.map(Summary.Comparison::verdict).orElse(""),
            scaled(count(counts, "density_e9"), 1e-9),
            scaled(scores, 1.0 / shape.scores()),
            flops,
            scaled(flops, 1 / nanos),
            count(counts, "bytes_moved"),
            count(counts, "scratch_bytes"),
            flops == null
                ? null
                : study
                    .limits()
                    .map(
                        limits ->
                            limits.share(count(counts, "bytes_moved"), flops / 2, nanos / 1e9))
                    .filter(OptionalDouble::isPresent)
                    .map(OptionalDouble::getAsDouble)
                    .orElse(null),
            study.sharesProcesses()
                ? null
                : Double.valueOf(
                    forks.stream()
                        .mapToLong(fork -> fork.end().peakBytes())
                        .average()
                        .orElseThrow()),
            scores == null ? null : scaled(count(counts, "relative_error_e12"), 1e-12)));
  }

  private static Double flops(Map<?, ?> counts, int dimension) {
    Double scores = count(counts, "scores");
    Double chosen = count(counts, "chosen_scores");
    return scores == null
        ? null
        : Double.valueOf((4 * scores - 2 * (chosen == null ? 0 : chosen)) * dimension);
  }

  private static Double scaled(Double value, double by) {
    return value == null ? null : Double.valueOf(value * by);
  }

  private static Double count(Map<?, ?> counts, String name) {
    return counts.get(name) instanceof Number number ? Double.valueOf(number.doubleValue()) : null;
  }

  @Override
  public DetailTable table() {
    List<List<String>> lines = new ArrayList<>();
    String length = "";
    for (Row row : rows) {
      lines.add(
          List.of(
              row.length().equals(length) ? "" : row.length(),
              row.variant(),
              Format.significant(row.milliseconds(), 3),
              // No time is negative, whatever an interval of few blocks allows.
              interval(row.low() == null ? null : Math.max(0, row.low()), row.high()),
              speedup(row),
              row.verdict(),
              row.density() == null ? "–" : Format.percent(row.density(), 1),
              row.executed() == null ? "–" : Format.percent(row.executed(), 1),
              counted(row.gigaflops(), 1),
              RooflineTable.share(row.ofLimit()),
              counted(row.bytesMoved(), 1e6),
              counted(row.scratchBytes(), 1e6),
              counted(row.peakBytes(), 1e6)));
      length = row.length();
    }
    return new DetailTable(
        title,
        List.of(
            "length",
            "variant",
            "ms",
            "95 %",
            "speed-up",
            "verdict",
            "density",
            "executed",
            "GFLOP/s",
            "of limit",
            "moved MB",
            "scratch MB",
            "peak MB"),
        lines,
        String.join(
            " ",
            Stream.concat(
                    Stream.of(
                        "Density: keys that queries see, by the definition; executed: scores that were"
                            + " computed, by count, as a share of dense attention's; GFLOP/s: 4 × those"
                            + " × the head's dimension, 2 × for scores that only choose what is seen;"
                            + " moved: bytes of inputs, copies, panels and results, as often as each"
                            + " was read or written, by count; scratch: the most memory that was held"
                            + " beside inputs and results; peak: resident memory of the process.",
                        ofLimit),
                    leftOut.stream().map(why -> why + "."))
                .toList()));
  }

  private static String speedup(Row row) {
    if (row.isBaseline()) {
      return "1×";
    }
    return row.speedup() == null
        ? "–"
        : Format.significant(row.speedup(), 3)
            + "× "
            + interval(row.speedupLow(), row.speedupHigh());
  }

  private static String counted(Double value, double unit) {
    return value == null ? "–" : Format.significant(value / unit, 3);
  }

  private static String interval(Double low, Double high) {
    return low == null || high == null
        ? ""
        : "[%s, %s]".formatted(Format.significant(low, 3), Format.significant(high, 3));
  }

  @Override
  public List<LineChart> charts() {
    return rows.stream().map(Row::length).distinct().count() < 2
        ? List.of()
        : List.of(
            chart("time", "Milliseconds of a forward pass", Row::milliseconds),
            chart(
                "scratch",
                "Scratch memory in MB",
                row -> row.scratchBytes() == null ? null : row.scratchBytes() / 1e6));
  }

  private LineChart chart(String name, String what, Function<Row, Double> value) {
    Map<String, List<Row>> byVariant =
        rows.stream()
            .filter(row -> value.apply(row) != null)
            .collect(Collectors.groupingBy(Row::variant, LinkedHashMap::new, Collectors.toList()));
    List<LineChart.Line> lines = new ArrayList<>();
    byVariant.forEach(
        (variant, own) ->
            lines.add(
                new LineChart.Line(
                    variant,
                    own.stream()
                        .mapToDouble(row -> AttentionProblem.length(row.length()))
                        .toArray(),
                    own.stream().mapToDouble(value::apply).toArray())));
    return new LineChart(name, what, title, "tokens", lines);
  }
}

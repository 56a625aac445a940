package io.steelyard.app;

import io.steelyard.app.ExtremeClimb.Limits;
import io.steelyard.app.ExtremeClimb.Reach;
import io.steelyard.app.ExtremeClimb.Step;
import io.steelyard.app.ExtremeCost.Prediction;
import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.lab.RunException;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.Page;
import io.steelyard.reports.ReachChart;
import io.steelyard.reports.terminal.Format;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * How far each variant got, as JSON and as a page.
 *
 * @param title what was measured
 * @param reached one a variant
 * @param simulation what more tokens would take, where that was asked for
 */
record ExtremeReport(
    String title,
    String command,
    Limits limits,
    List<Reach> reached,
    Optional<ExtremeSimulation> simulation) {
  /** The name of its files. */
  static final String FILE = "extreme";

  /** What is said when the command is stopped. */
  static RunException stopped(Path folder) {
    return new RunException(
        "stopped: what was measured is in %s; the same command with --into %s goes on from there"
            .formatted(folder, folder));
  }

  Page page() {
    return new Page(
        "How far attention goes", title, List.of(), List.of(chart()), tables(), command);
  }

  List<DetailTable> tables() {
    List<DetailTable> tables = new ArrayList<>(List.of(reach(), steps()));
    simulation.ifPresent(simulated -> tables.add(simulated.table()));
    return tables;
  }

  private ReachChart chart() {
    return new ReachChart(
        "reach",
        "How far each variant got",
        title + ".  Full: measured.  Hollow: the next, only predicted.",
        "tokens",
        reached.stream()
            .map(
                reach ->
                    new ReachChart.Row(
                        reach.variant(),
                        reach.reached(),
                        reach.next() == null ? 0 : reach.next().length(),
                        reason(reach)))
            .toList());
  }

  private static String reason(Reach reach) {
    return switch (reach.stop()) {
      case MEMORY -> "memory: " + Format.bytes(reach.next().bytes());
      case TIME -> "time: " + Format.significant(reach.next().seconds(), 2) + " s";
      case MAXIMUM -> "reached the maximum";
      case BUDGET -> "budget";
      case FAILED -> "failed";
      case INTERRUPTED -> "interrupted";
    };
  }

  private DetailTable reach() {
    List<List<String>> rows = new ArrayList<>();
    for (Reach reach : reached) {
      Optional<Step> last =
          reach.steps().isEmpty() ? Optional.empty() : Optional.of(reach.steps().getLast());
      Optional<Prediction> next = Optional.ofNullable(reach.next());
      rows.add(
          List.of(
              reach.variant(),
              last.map(step -> AttentionProblem.name(step.predicted().length())).orElse("–"),
              last.map(step -> seconds(step.measured().seconds())).orElse("–"),
              last.map(step -> Format.bytes(memory(step))).orElse("–"),
              next.map(prediction -> AttentionProblem.name(prediction.length())).orElse(""),
              next.map(prediction -> seconds(prediction.seconds())).orElse(""),
              next.map(prediction -> Format.bytes(prediction.bytes())).orElse(""),
              reach.stop().name().toLowerCase(Locale.ROOT) + ": " + reach.why()));
    }
    return new DetailTable(
        "How far each got",
        List.of(
            "variant", "reached", "took", "held", "next", "predicted", "predicted", "stopped by"),
        rows,
        "Limits: %s of memory for inputs, results and scratch memory, %s s a pass, %s tokens at most, %s s for everything. Reached, took and held are measured; what comes next was only predicted."
            .formatted(
                Format.bytes(limits.bytes()),
                Format.significant(limits.passSeconds(), 2),
                AttentionProblem.name(limits.most()),
                Format.significant(limits.budgetSeconds(), 3)));
  }

  private DetailTable steps() {
    List<List<String>> rows = new ArrayList<>();
    for (Reach reach : reached) {
      String name = reach.variant();
      for (Step step : reach.steps()) {
        Prediction predicted = step.predicted();
        double measured = step.measured().seconds();
        rows.add(
            List.of(
                name,
                AttentionProblem.name(predicted.length()),
                (predicted.points() == 0 ? "≤ " : "") + seconds(predicted.seconds()),
                interval(predicted.low(), predicted.high()),
                seconds(measured),
                interval(step.measured().low(), step.measured().high()),
                predicted.points() == 0
                    ? ""
                    : String.format(
                        Locale.ROOT, "%+.0f %%", 100 * (measured / predicted.seconds() - 1)),
                Format.bytes(predicted.bytes()),
                Format.bytes(memory(step)),
                Format.bytes(Math.round(step.measured().peakBytes())),
                Format.count(step.measured().rowsChecked()),
                Format.scientific(step.measured().error(), 2)));
        name = "";
      }
    }
    return new DetailTable(
        "Predicted and measured",
        List.of(
            "variant",
            "length",
            "predicted",
            "95 %",
            "measured",
            "95 %",
            "off by",
            "predicted memory",
            "measured",
            "peak",
            "rows",
            "error"),
        rows,
        "Predicted: time by a law of the time over the scores that the variant says it computes,"
            + " through its last four lengths, with the interval for a further pass where there are"
            + " three; ≤ before anything was measured. Memory: inputs, results and scratch memory;"
            + " measured, the scratch memory is what was held by count; peak: resident memory of the"
            + " process. Rows: held to the definition in double precision against all keys before"
            + " the variant was timed, with their relative error.");
  }

  /** Inputs and results as they are, and the scratch memory that was counted. */
  private static long memory(Step step) {
    Prediction predicted = step.predicted();
    return predicted.bytes() - predicted.scratchBytes() + step.measured().scratchBytes();
  }

  private static String seconds(double seconds) {
    return Format.significant(seconds, 3) + " s";
  }

  private static String interval(Double low, Double high) {
    return low == null || high == null
        ? ""
        : "[%s, %s]".formatted(Format.significant(low, 2), Format.significant(high, 2));
  }
}

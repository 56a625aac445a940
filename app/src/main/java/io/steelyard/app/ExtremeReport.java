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
    List<DetailTable> tables = new ArrayList<>(List.of(reach()));
    if (reached.stream().anyMatch(each -> each.reached() > 0)) {
      tables.addAll(List.of(times(), memory()));
    }
    simulation.ifPresent(simulated -> tables.addAll(simulated.tables()));
    return tables;
  }

  private ReachChart chart() {
    return new ReachChart(
        "reach",
        "How far each variant got",
        title + ".  Full: measured.  Hollow: the next, only predicted.",
        "tokens",
        length -> AttentionProblem.name((int) length),
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
            "variant",
            "reached",
            "took",
            "held",
            "next",
            "predicted time",
            "predicted memory",
            "stopped by"),
        rows,
        "Limits: %s of memory for inputs, results and scratch memory, %s s a pass, %s tokens at most, %s s for everything. Reached, took and held are measured; what comes next was only predicted."
            .formatted(
                Format.bytes(limits.bytes()),
                Format.significant(limits.passSeconds(), 2),
                AttentionProblem.name(limits.most()),
                Format.significant(limits.budgetSeconds(), 3)));
  }

  private DetailTable times() {
    List<List<String>> rows = new ArrayList<>();
    for (Reach reach : reached) {
      String name = reach.variant();
      for (Step step : reach.steps()) {
        Prediction predicted = step.predicted();
        double measured = step.measured().seconds();
        boolean guessed = predicted.points() == 0;
        rows.add(
            List.of(
                name,
                AttentionProblem.name(predicted.length()),
                (guessed ? "~ " : "") + seconds(predicted.seconds()),
                interval(predicted.low(), predicted.high()),
                seconds(measured),
                interval(step.measured().low(), step.measured().high()),
                guessed
                    ? ""
                    : String.format(
                        Locale.ROOT, "%+.0f %%", 100 * (measured / predicted.seconds() - 1))));
        name = "";
      }
    }
    return new DetailTable(
        "Time of a pass, predicted and measured",
        List.of("variant", "length", "predicted", "95 %", "measured", "95 %", "measured is"),
        rows,
        "Predicted by a law of the time over the scores that the variant says it computes, through"
            + " its last four lengths, with the interval for one more length where there are three;"
            + " ~ is a rule of thumb, before anything was measured. The interval of what was"
            + " measured is over processes.");
  }

  private DetailTable memory() {
    List<List<String>> rows = new ArrayList<>();
    for (Reach reach : reached) {
      String name = reach.variant();
      for (Step step : reach.steps()) {
        rows.add(
            List.of(
                name,
                AttentionProblem.name(step.predicted().length()),
                Format.bytes(step.predicted().bytes()),
                Format.bytes(memory(step)),
                Format.bytes(Math.round(step.measured().peakBytes())),
                Format.count(step.measured().rowsChecked()),
                Format.scientific(step.measured().error(), 2)));
        name = "";
      }
    }
    return new DetailTable(
        "Memory, predicted and measured; proofs",
        List.of("variant", "length", "predicted", "measured", "peak", "rows checked", "error"),
        rows,
        "Memory of inputs, results and scratch memory; measured: the scratch memory is what was"
            + " held, by count. Peak: resident memory of the process. Rows checked were held to the"
            + " definition in double precision, against all keys, before the variant was timed;"
            + " error: theirs, relative.");
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

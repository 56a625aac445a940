package io.steelyard.app;

import io.steelyard.lab.record.Generated;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Study;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Ways to fill in masks, by speed, passes, and what becomes of the text. */
record DiffusionView(List<Row> rows) implements StudyView {
  /** The engine's options that a run of this kind differs in. */
  private static final List<String> OPTIONS =
      List.of("cache", "confidence", "steps", "block", "algorithm");

  /**
   * One way.
   *
   * @param weights {@code real} or {@code random}
   * @param options how masks are filled in
   * @param tokensPerSecond mean over processes
   * @param low lower bound of its 95 % interval; null where there is none
   * @param high upper bound; null likewise
   * @param tokensPerForward tokens ÷ forward passes
   * @param steps forward passes of a generation, mean over prompts
   * @param msPerStep time of a generation ÷ its passes
   * @param similarity of the text to the baseline's
   * @param agreed share of it before the first other token
   */
  record Row(
      String label,
      String weights,
      Map<String, String> options,
      Double tokensPerSecond,
      Double low,
      Double high,
      double tokensPerForward,
      double steps,
      Double msPerStep,
      double similarity,
      double agreed) {}

  static Optional<StudyView> of(RunDirectory directory, StudyRun.Outcome outcome) {
    Study study = directory.plan();
    boolean fills =
        study.engines().values().stream()
            .anyMatch(engine -> OPTIONS.stream().anyMatch(engine.options()::containsKey));
    if (!fills || Files.notExists(directory.path().resolve(StudyRun.GENERATED))) {
      return Optional.empty();
    }
    List<Row> rows = new ArrayList<>();
    for (Generated one : directory.read(StudyRun.GENERATED, Generated[].class)) {
      one.passes().ifPresent(passes -> rows.add(row(study, outcome.summary(), one, passes)));
    }
    return rows.isEmpty() ? Optional.empty() : Optional.of(new DiffusionView(rows));
  }

  private static Row row(Study study, Summary summary, Generated one, long passes) {
    Optional<Summary.Cell> cell =
        summary.cells().stream()
            .filter(c -> c.label().equals(one.label()) && c.metric().equals(one.workload()))
            .findFirst();
    Double rate = cell.map(Summary.Cell::mean).orElse(null);
    double each = (double) one.tokens() / one.prompts();
    double steps = (double) passes / one.prompts();
    return new Row(
        one.label(),
        summary.weights(),
        study.engines().get(one.label()).options(),
        rate,
        cell.map(Summary.Cell::low).orElse(null),
        cell.map(Summary.Cell::high).orElse(null),
        each / steps,
        steps,
        rate == null ? null : Double.valueOf(1000 * each / rate / steps),
        one.similarity(),
        one.agreed());
  }

  @Override
  public DetailTable table() {
    List<List<String>> lines = new ArrayList<>();
    for (Row row : rows) {
      lines.add(
          List.of(
              row.label(),
              row.weights(),
              row.tokensPerSecond() == null ? "–" : Format.significant(row.tokensPerSecond(), 3),
              row.low() == null
                  ? ""
                  : "[%s, %s]"
                      .formatted(
                          Format.significant(row.low(), 3), Format.significant(row.high(), 3)),
              Format.decimals(row.tokensPerForward(), 2),
              Format.decimals(row.steps(), 1),
              row.msPerStep() == null ? "–" : Format.significant(row.msPerStep(), 3),
              Format.percent(row.similarity(), 1),
              Format.percent(row.agreed(), 1)));
    }
    return new DetailTable(
        "Filling in masks",
        List.of(
            "engine",
            "weights",
            "tok/s",
            "95 %",
            "tok/forward",
            "steps",
            "ms/step",
            "text",
            "agreed"),
        lines,
        "Steps are forward passes of a generation, mean over the prompts. Text: 1 − edits ÷ length"
            + " against the baseline's, in tokens; agreed: the share before the first other token."
            + " Cached keys and values are those of an earlier pass, so a cache may give another"
            + " text.");
  }
}

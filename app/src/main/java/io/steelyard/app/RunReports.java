package io.steelyard.app;

import io.steelyard.lab.RunException;
import io.steelyard.lab.calibration.Noise;
import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.reports.Chart;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.MarkdownReport;
import io.steelyard.reports.ReportInput;
import io.steelyard.reports.Series;
import io.steelyard.reports.terminal.Format;
import io.steelyard.stats.Sample;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Turns a run's records into what `reports` renders, and writes the report into its directory. */
final class RunReports {
  /** What is lost where labels share a process. */
  static final String SHARED =
      "All labels shared one fresh process a block and worked in it one after the other, their trials"
          + " in a row: what the JVM had compiled for one was there for the next, so that only the"
          + " order, drawn at random and turned round in every second block, parts what the code"
          + " does from what ran before it; and the memory of the process is told of no label.";

  private final RunDirectory directory;
  private final StudyRun.Outcome outcome;
  private final Study study;

  RunReports(RunDirectory directory, StudyRun.Outcome outcome) {
    this.directory = directory;
    this.outcome = outcome;
    this.study = directory.plan();
  }

  /** Writes report.md and its plots, and the rows of tables of the run's own kind. */
  void write(Console console) {
    Map<String, String> formulas = new LinkedHashMap<>();
    Metric.of(study).forEach(metric -> formulas.put(metric.name(), metric.formula()));
    List<StudyView> views = StudyView.of(directory, outcome);
    ReportInput input =
        new ReportInput(
            outcome.summary(),
            study.command(),
            environment(),
            series(),
            study.design().margin(),
            formulas,
            setting(),
            study.limits().filter(_ -> study.hasModel()).map(RooflineTable::sentence).orElse(""),
            details(),
            notes(),
            views.stream().<Chart>flatMap(view -> view.charts().stream()).toList());
    StudyView.rows(views)
        .forEach((name, rows) -> directory.write(name + ".json", Json.pretty(rows)));
    try {
      MarkdownReport.write(directory.path(), input).problems().forEach(console::note);
    } catch (IOException e) {
      throw new RunException(
          "can't write the report into " + directory.path() + ": " + e.getMessage(), e);
    }
  }

  /** What the run was made on, and which engines it measured. */
  @SuppressWarnings("unchecked") // JSON objects are maps from text
  private Map<String, Object> environment() {
    Map<String, Object> environment =
        new LinkedHashMap<>(directory.read(RunDirectory.ENVIRONMENT, Map.class));
    environment.put("engines", directory.read("engines.json", Map.class));
    return environment;
  }

  /** What was measured on what, in a line. */
  private String setting() {
    List<String> parts = new ArrayList<>();
    outcome.summary().cells().stream()
        .map(Summary.Cell::precision)
        .filter(precision -> !precision.isEmpty())
        .distinct()
        .forEach(parts::add);
    if (environment().get("hardware") instanceof Map<?, ?> hardware
        && hardware.get("processor") instanceof String processor) {
      parts.add(processor);
    }
    int threads = study.settings().threads();
    String what = study.hasModel() ? "thread" : "processor";
    parts.add(Format.count(threads, what));
    if (study.hasModel()) {
      parts.add("KV cache " + study.settings().kv());
    }
    int blocks = outcome.blocks().all().size();
    parts.add(
        "%s of %s"
            .formatted(
                Format.count(blocks, "block"),
                study.sharesProcesses() ? "one shared process each" : "fresh processes"));
    return String.join(" · ", parts);
  }

  private List<DetailTable> details() {
    List<DetailTable> tables = new ArrayList<>();
    StudyView.of(directory, outcome).forEach(view -> tables.add(view.table()));
    DifferenceTests.of(study, outcome.blocks()).ifPresent(tables::add);
    OutlierTable.of(study, outcome).ifPresent(tables::add);
    WarmUpTable.of(study, outcome.blocks()).ifPresent(tables::add);
    tables.addAll(RunDetails.of(study, outcome.blocks()));
    return tables;
  }

  private List<String> notes() {
    List<String> notes = new ArrayList<>();
    List<Noise> noise = Calibration.of(Home.cache()).noise(study.settings().threads());
    if (!study.baseline().isEmpty() && !noise.isEmpty()) {
      notes.add(NoiseTable.sentence(noise, study.design().margin()));
    }
    if (study.model().random()) {
      notes.add(
          "The weights are random: speed and memory are those of the shape, the text is noise.");
    }
    study
        .precisions()
        .ifPresent(
            precisions ->
                notes.add(
                    "All labels are one model in several precisions, each held to a mean KL of at most %s nats to the source %s (%s) instead of to equality."
                        .formatted(
                            Format.compact(precisions.mostKl()),
                            precisions.source(),
                            study.model().name())));
    if (study.sharesProcesses()) {
      notes.add(SHARED);
    }
    // Without any block there was nothing to measure: parity had failed.
    int blocks = outcome.blocks().all().size();
    if (blocks > 0 && study.design().adaptive().isPresent()) {
      notes.add(
          "The run looked at its ratios after every block from the third on, %d in all, and went on with those that were not settled. The intervals are wide enough for all looks together to hold the truth in 95 %% of runs."
              .formatted(blocks));
    } else if (blocks > 0 && blocks < study.design().forks()) {
      notes.add(
          "The budget ended the run after %d of %d blocks."
              .formatted(blocks, study.design().forks()));
    }
    return notes;
  }

  private List<Series> series() {
    List<Series> series = new ArrayList<>();
    for (Metric metric : Metric.of(study)) {
      for (String label : study.engines().keySet()) {
        Cell cell = new Cell(label, metric.workload());
        List<Series.Block> blocks = new ArrayList<>();
        for (Blocks.Block block : outcome.blocks().all()) {
          ForkRecord fork = block.forks().get(cell.id());
          if (fork != null && fork.sound()) {
            blocks.add(
                new Series.Block(
                    block.number(), block.disturbed(), warmUp(metric, fork), trials(metric, fork)));
          }
        }
        series.add(new Series(label, metric.name(), metric.unit(), blocks));
      }
    }
    return series;
  }

  private static List<Double> trials(Metric metric, ForkRecord fork) {
    return boxed(metric.sample(List.of(fork)));
  }

  /** The warm-up calls in the metric's unit; none where the process is the trial. */
  private static List<Double> warmUp(Metric metric, ForkRecord fork) {
    if (fork.calls(Role.TRIAL).isEmpty()) {
      return List.of();
    }
    return fork.calls(Role.WARM_UP).stream().map(metric::of).toList();
  }

  private static List<Double> boxed(Sample sample) {
    return Arrays.stream(sample.allTrials()).boxed().toList();
  }
}

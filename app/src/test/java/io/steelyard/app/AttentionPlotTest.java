package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.history.HistoryStore;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tier;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.run.BenchmarkRun;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.LoadReport;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Plots of runs whose times follow laws that are known. */
final class AttentionPlotTest {
  private static final AttentionProblem PROBLEM =
      new AttentionProblem(2, 2, 16, 1, 0, true, DataType.F32, Tier.REFERENCE, 1, true, true);

  private static final LoadReport.Settings SETTINGS =
      new LoadReport.Settings("", "", "", 1, "", 0, 0, false, 0, 0, 0);

  @TempDir private Path folder;

  private CommandLineTest.Outcome plot(String... arguments) {
    List<String> all = new ArrayList<>(List.of("attention", "plot"));
    all.addAll(List.of("--runs", folder.toString()));
    all.addAll(List.of("--history", folder.resolve("history").toString()));
    all.addAll(List.of(arguments));
    return CommandLineTest.run("", all.toArray(String[]::new));
  }

  private AttentionPlot.Document document(String run) {
    CommandLineTest.Outcome outcome = plot(run, "--json");
    assertThat(outcome.code()).as(outcome.err()).isZero();
    return Json.read(outcome.out(), AttentionPlot.Document.class);
  }

  private static double nanos(String variant, int length) {
    return variant.equals("flash") ? 10.0 * length * length : 20_480.0 * length;
  }

  /** A run of so many blocks, the last without its last cell where it was interrupted. */
  private Path run(List<String> lengths, int blocks, boolean interrupted) {
    Map<String, Study.Engine> engines = new LinkedHashMap<>();
    for (String variant : List.of("flash", "dilated")) {
      engines.put(
          variant, new Study.Engine(variant, AttentionProblem.ENGINE, PROBLEM.options(variant)));
    }
    Study study =
        BenchmarkRun.study("./steelyard attention range", "attention", engines, lengths)
            .baseline("flash")
            .settings(DesignOptions.withoutModel())
            .design(DesignOptions.quick(blocks, 1, 60, 0.02, 1))
            .build();
    try (RunDirectory directory = RunDirectory.create(folder, "attention", study);
        Journal journal = Journal.open(directory.journalFile())) {
      directory.write(BenchmarkRun.COUNTS, "{\"flash\": {\"1K\": {\"scratch_bytes\": 4000000}}}");
      for (int block = 1; block <= blocks; block++) {
        for (Cell cell : study.cells()) {
          boolean last = block == blocks && cell.equals(study.cells().getLast());
          if (!interrupted || !last) {
            add(journal, block, cell);
          }
        }
      }
      return directory.path();
    }
  }

  private static void add(Journal journal, int block, Cell cell) {
    int length = AttentionProblem.length(cell.workload().title());
    // A factor of the block's own: it changes neither exponents nor crossovers.
    long nanos = Math.round(block * nanos(cell.label(), length));
    journal.add(
        new Entry.ForkStart(block, 1, cell.id(), 1, 1, false, "b", 0, 0, 0, Map.of(), 0, SETTINGS));
    journal.add(
        new Entry.Call(
            block,
            1,
            cell.id(),
            1,
            "kernel",
            Role.TRIAL,
            0,
            0,
            1,
            nanos,
            nanos,
            nanos,
            true,
            0,
            0,
            0,
            0,
            0,
            Optional.empty()));
    journal.add(new Entry.ForkEnd(block, 1, cell.id(), 1, true, 1, 1, 1, 1, Map.of(), ""));
  }

  private static Summary.Cell figures(String variant, String length) {
    double mean = nanos(variant, AttentionProblem.length(length));
    return new Summary.Cell(
        variant,
        "attention",
        "attention",
        "",
        length,
        "ns",
        "lower",
        mean,
        mean,
        0.0,
        mean,
        mean,
        null,
        null,
        1,
        1,
        "steady",
        0,
        null);
  }

  private static void finish(Path run, List<String> lengths) throws IOException {
    List<Summary.Cell> cells = new ArrayList<>();
    for (String length : lengths) {
      cells.add(figures("flash", length));
      cells.add(figures("dilated", length));
    }
    Summary.Comparison judged =
        new Summary.Comparison(
            lengths.getFirst(),
            "dilated",
            "flash",
            "attention",
            "",
            0.5,
            0.4,
            0.6,
            "slower",
            3,
            "");
    Files.writeString(
        run.resolve("summary.json"),
        Json.pretty(
            new Summary(
                Summary.SCHEMA,
                run.getFileName().toString(),
                "attention",
                "real",
                cells,
                List.of(judged),
                List.of(),
                List.of())));
  }

  @Test
  void exponentsAndCrossoversAreThoseOfTheTimes() throws IOException {
    List<String> lengths = List.of("1K", "2K", "4K");
    Path run = run(lengths, 3, false);
    finish(run, lengths);

    AttentionPlot.Document document = document(run.toString());

    assertThat(document.notes()).isEmpty();
    assertThat(document.exponents())
        .extracting(e -> e.variant())
        .containsExactly("flash", "dilated");
    AttentionGrowth.Estimate flash = document.exponents().get(0).exponent();
    assertThat(flash.value()).isCloseTo(2, within(1e-6));
    assertThat(flash.high() - flash.low()).isLessThan(1e-6);
    assertThat(document.exponents().get(1).exponent().value()).isCloseTo(1, within(1e-6));
    AttentionPlot.Crossover crossover = document.crossovers().getFirst();
    assertThat(document.crossovers()).hasSize(1);
    assertThat(crossover.faster()).isEqualTo("dilated");
    assertThat(crossover.from().value()).isCloseTo(2048, within(1e-3));
    assertThat(crossover.from().low()).isCloseTo(2048, within(1e-3));
    assertThat(crossover.measured()).isTrue();
    AttentionPlot.Row judged = document.rows().get(1);
    // What the run has judged stands; where it hasn't the blocks do.
    assertThat(judged.speedup()).isEqualTo(new AttentionGrowth.Estimate(0.5, 0.4, 0.6));
    assertThat(document.rows().get(5).speedup().value()).isCloseTo(2, within(1e-6));
    assertThat(document.rows().get(0).scratchBytes()).isEqualTo(4e6);
    assertThat(run.resolve("plot"))
        .isDirectoryContaining("glob:**plot.md")
        .isDirectoryContaining("glob:**plot.html")
        .isDirectoryContaining("glob:**plot.json")
        .isDirectoryContaining("glob:**plot-time.svg")
        .isDirectoryContaining("glob:**plot-scratch.png")
        .isDirectoryContaining("glob:**plot-speed-up.svg");
    assertThat(Files.readString(run.resolve("plot/plot.html"))).contains("plot-time.svg", "2,000");
  }

  @Test
  void aRunIsFoundByItsNumberWithItsFolderAndWithout() throws IOException {
    List<String> lengths = List.of("1K", "2K", "4K");
    Path run = run(lengths, 2, false);
    finish(run, lengths);
    try (HistoryStore store = HistoryStore.open(folder.resolve("history"))) {
      store.add(run);
    }
    assertThat(document("1").rows().getFirst().scratchBytes()).isEqualTo(4e6);

    Files.move(run, folder.resolve("elsewhere"));

    AttentionPlot.Document kept = document("1");
    assertThat(kept.rows().getFirst().scratchBytes()).isNull();
    assertThat(kept.baseline()).isEqualTo("flash");
    assertThat(kept.exponents().getFirst().exponent().value()).isCloseTo(2, within(1e-6));
    assertThat(kept.notes().getFirst()).contains("keeps no scratch memory");
    assertThat(plot("2").err()).contains("there is no run '2'").doesNotContain("\tat ");
  }

  @Test
  void anInterruptedRunIsDrawnAsFarAsItGot() {
    Path run = run(List.of("1K", "2K", "4K"), 2, true);

    AttentionPlot.Document document = document(run.getFileName().toString());

    assertThat(document.notes().getFirst()).contains("was interrupted", "2 of its blocks");
    assertThat(document.exponents().getFirst().exponent().low()).isNotNull();
    // One block has all lengths of it.
    assertThat(document.exponents().get(1).exponent().low()).isNull();
    assertThat(plot(run.toString()).out()).contains("Growth with the length", "was interrupted");
  }

  @Test
  void oneLengthHasNoExponent() {
    CommandLineTest.Outcome outcome = plot(run(List.of("1K"), 2, false).toString());

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.out())
        .contains("flash was measured at one length only: an exponent needs 3 lengths")
        .doesNotContain("Growth with the length");
  }

  @Test
  void theRowsOfARunAreEnough() throws IOException {
    Path file = folder.resolve("rows.json");
    List<AttentionView.Row> rows = new ArrayList<>();
    for (int length : new int[] {1024, 2048, 4096}) {
      rows.add(
          new AttentionView.Row(
              "flash",
              AttentionProblem.name(length),
              nanos("flash", length) / 1e6,
              null,
              null,
              1,
              null,
              null,
              null,
              "baseline",
              null,
              null,
              null,
              null,
              null,
              2e6,
              null,
              1.0,
              null));
    }
    Files.writeString(file, Json.pretty(Map.of("rows", rows)));

    AttentionPlot.Document document = document(file.toString());

    assertThat(document.exponents().getFirst().exponent().value()).isCloseTo(2, within(1e-6));
    assertThat(document.exponents().getFirst().exponent().low()).isNull();
    assertThat(document.baseline()).isEqualTo("flash");
    Files.writeString(file, Json.pretty(rows));
    assertThat(document(file.toString()).rows()).hasSize(3);
  }

  @Test
  void whatIsNoRunOfAttentionIsSaidToBeNone() throws IOException {
    Path other = Files.createDirectory(folder.resolve("other"));
    for (String file : List.of("plan.json", "trials.jsonl")) {
      try (InputStream in = getClass().getResourceAsStream(file)) {
        Files.copy(in, other.resolve(file));
      }
    }
    Path text = Files.writeString(folder.resolve("some.json"), "{\"rows\": 3");

    assertThat(plot(other.toString()).err()).contains("is no run of attention (it measured");
    assertThat(plot(text.toString()).err()).contains("is no JSON of a run of attention");
    Files.writeString(text, "{\"rows\": [{\"variant\": \"flash\"}]}");
    assertThat(plot(text.toString()).err()).contains("is no JSON of a run of attention");
    Files.writeString(text, "[]");
    assertThat(plot(text.toString()).err()).contains("holds no rows");
    assertThat(plot("no-such-run").err()).contains("there is no run 'no-such-run'");
    Path begun = run(List.of("1K"), 0, false);
    assertThat(plot(begun.toString()).err()).contains("nothing was measured in", "resume");
  }
}

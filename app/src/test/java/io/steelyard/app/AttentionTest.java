package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Variants of attention, in real processes. */
final class AttentionTest {
  /** Answers everything, and every attention wrongly. */
  private static final String WRONG_PEER =
      """
      #!/usr/bin/env python3
      import json, sys
      for line in sys.stdin:
          q = json.loads(line)
          ok = dict(
              hello=dict(engine="wrong", version="1", backend="", libraries=[], precisions=[],
                  capabilities=["kernel"], hosted=False, build="1"),
              load=dict(phases={}, bytes={}, libraries=[], settings=dict(weights="", kv="",
                  activations="", threads=1, affinity="", batch=0, context=0, flash_attention=True,
                  vocabulary=0, layers=0, parameters=0)),
              kernel=dict(nanos=1000, error=0.5),
              memory=dict(parts={})).get(q["call"], {})
          print(json.dumps(dict(id=q["id"], ok=ok)), flush=True)
          if q["call"] == "close":
              break
      """;

  @TempDir private Path folder;

  private record Document(Summary summary, List<AttentionView.Row> rows) {}

  private CommandLineTest.Outcome attention(String... arguments) {
    List<String> all = new ArrayList<>(List.of("attention"));
    all.addAll(List.of(arguments));
    return CommandLineTest.run("", all.toArray(String[]::new));
  }

  private CommandLineTest.Outcome range(String... arguments) {
    List<String> all = new ArrayList<>(List.of("range", "custom", "--heads", "2", "--dim", "16"));
    all.addAll(List.of("--runs", folder.resolve("runs").toString(), "--forks", "1"));
    all.addAll(List.of("--trials", "2", "--json"));
    all.addAll(List.of(arguments));
    return attention(all.toArray(String[]::new));
  }

  @Test
  void variantsAreProvedMeasuredAndCounted() {
    CommandLineTest.Outcome outcome =
        range("--lengths", "200,1K", "--variants", "flash,dilated:segments=64,rates=2");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    Document document = Json.read(outcome.out(), Document.class);
    assertThat(document.rows())
        .extracting(AttentionView.Row::length, AttentionView.Row::variant)
        .containsExactly(
            tuple("200", "flash"),
            tuple("200", "dilated:segments=64,rates=2"),
            tuple("1K", "flash"),
            tuple("1K", "dilated:segments=64,rates=2"));
    assertThat(document.rows()).allMatch(row -> row.milliseconds() > 0 && row.error() < 1e-5);
    AttentionView.Row flash = document.rows().get(2);
    AttentionView.Row dilated = document.rows().get(3);
    assertThat(flash.executed()).isBetween(1.0, 1.1);
    // Half of the queries see at most half of 64 keys each, in tiles of 32.
    assertThat(dilated.executed()).isBetween(0.015, 0.06);
    // One block allows no ratio.
    assertThat(dilated.speedup()).isNull();
    assertThat(flash.verdict()).isEqualTo("baseline");
    assertThat(dilated.verdict()).isEqualTo("inconclusive");
  }

  @Test
  void aProgramThatAttendsWronglyIsNotTimed() throws IOException {
    Path peer = Files.writeString(folder.resolve("wrong.py"), WRONG_PEER);
    assertThat(peer.toFile().setExecutable(true)).isTrue();

    CommandLineTest.Outcome outcome =
        range("--lengths", "100", "--variants", "flash", "--peer", peer.toString());

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.PARITY);
    Document document = Json.read(outcome.out(), Document.class);
    assertThat(document.summary().parity())
        .filteredOn(parity -> !parity.pass())
        .extracting(Summary.Parity::label, Summary.Parity::note)
        .containsExactly(
            tuple(peer.toString(), "on 100 it gives something else than its definition"));
  }

  @Test
  void whatDoesNotFitIsLeftOutWithItsNeed() {
    CommandLineTest.Outcome outcome =
        range("--lengths", "100,256K", "--variants", "flash,dense", "--call-limit", "1s");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(Json.read(outcome.out(), Document.class).rows())
        .extracting(AttentionView.Row::length)
        .containsOnly("100");
    assertThat(range("--lengths", "1000M", "--variants", "flash").err())
        .contains("nothing can be measured: flash at 1000M needs about");
    assertThat(range("--lengths", "1M", "--variants", "flash", "--call-limit", "1s").err())
        .contains("flash at 1M would take about");
  }

  @Test
  void aWrongUsageIsToldWithWhatThereIs() {
    assertThat(range("--lengths", "100", "--variants", "flesh").err())
        .contains("there is no attention 'flesh'; there is dense, flash");
    assertThat(range("--lengths", "100", "--variants", "ring:rank=2").err())
        .contains("no parameter 'rank'; it has ranks");
    assertThat(range("--lengths", "0").err()).contains("'0' is no length");
    assertThat(range("--lengths", "9999999999").err()).contains("is no length");
    assertThat(range().err()).contains("custom needs --lengths");
    assertThat(attention("range", "document", "--lengths", "5").err())
        .contains("--lengths is for 'custom' alone");
    assertThat(range("--lengths", "100", "--kv-heads", "3").err())
        .contains("2 query heads can't share 3 heads");
    assertThat(range("--lengths", "100", "--batch", "many").err()).contains("--batch many");
    assertThat(range("--lengths", "100", "--peer", "no/such").code()).isEqualTo(ExitCode.USAGE);
    assertThat(range("--lengths", "100", "--variants", "flash,flash").err())
        .contains("names one twice");
  }

  @Test
  void variantsOfAQuickStudyShareAProcess() throws Exception {
    Study study =
        AttentionQuickCommand.sharing(
            study("flash", "sparse")
                .of("quick", "attention quick", new Study.Design(3, 1, 1, 1, 60, 0.02, 42)));

    int code =
        new StudyConsole(new Console(), false, new AttentionQuickPrinter())
            .begin(folder, "quick", study);

    assertThat(code).isZero();
    try (Stream<Path> runs = Files.list(folder);
        RunDirectory run = RunDirectory.open(folder, runs.findFirst().orElseThrow().toString())) {
      assertThat(run.plan().sharesProcesses()).isTrue();
      Map<String, Set<Long>> processes = new TreeMap<>();
      for (Entry entry : Journal.read(run.journalFile())) {
        if (entry instanceof Entry.ForkStart start) {
          processes
              .computeIfAbsent(start.block() + "." + start.attempt(), _ -> new TreeSet<>())
              .add(start.pid());
        }
      }
      assertThat(processes)
          .hasSizeBetween(3, 6)
          .allSatisfy((_, pids) -> assertThat(pids).hasSize(1));
      assertThat(processes.values()).doesNotHaveDuplicates();
      assertThat(Files.readString(run.path().resolve("report.md")))
          .contains("blocks of one shared process each", "shared one fresh process a block");
    }
  }

  private static AttentionStudy study(String... variants) {
    AttentionProblem problem =
        new AttentionProblem(1, 1, 16, 1, 0, true, DataType.F32, Kernels.best(), 1, true, true);
    Map<String, AttentionStudy.Label> labels = new LinkedHashMap<>();
    for (String variant : variants) {
      labels.put(variant, new AttentionStudy.Label(variant, problem));
    }
    return new AttentionStudy(labels, List.of(1024), 60);
  }

  private static String cell(String label) {
    return new Cell(label, Workload.operation("1K")).id();
  }

  @Test
  void variantsThatDoNotFitTogetherAreInGroups() {
    List<AttentionStudy.Need> needs = study("flash", "dense", "sparse", "ring").needs();
    long room = 5 * AttentionStudy.PROCESS_BYTES / 2;

    assertThat(AttentionStudy.groups(needs, Set.of(), Long.MAX_VALUE)).isEmpty();
    assertThat(AttentionStudy.groups(needs, Set.of(), room))
        .isEqualTo(Map.of(cell("flash"), 0, cell("dense"), 0, cell("sparse"), 1, cell("ring"), 1));
    assertThat(AttentionStudy.groups(needs, Set.of(cell("dense")), room))
        .isEqualTo(Map.of(cell("flash"), 0, cell("sparse"), 0, cell("ring"), 1));
    assertThat(AttentionStudy.groups(needs, Set.of(), 0).values())
        .containsExactlyInAnyOrder(0, 1, 2, 3);
  }

  @Test
  void groupsAreMeasuredOneAfterTheOther() throws Exception {
    Study together =
        study("flash", "dense", "sparse")
            .of("range", "attention", new Study.Design(1, 2, 1, 1, 60, 0.02, 42));
    Study study =
        together.toBuilder()
            .groups(Map.of(cell("flash"), 0, cell("dense"), 1, cell("sparse"), 0))
            .build();

    int code = new StudyConsole(new Console(), false, new ViewPrinter()).begin(folder, "g", study);

    assertThat(code).isZero();
    try (Stream<Path> runs = Files.list(folder);
        RunDirectory run = RunDirectory.open(folder, runs.findFirst().orElseThrow().toString())) {
      Set<String> running = new TreeSet<>();
      Set<Set<String>> seen = new LinkedHashSet<>();
      for (Entry entry : Journal.read(run.journalFile())) {
        if (entry instanceof Entry.ForkStart start) {
          running.add(start.cell());
          seen.add(Set.copyOf(running));
        } else if (entry instanceof Entry.ForkEnd end) {
          running.remove(end.cell());
        }
      }
      assertThat(seen)
          .contains(Set.of(cell("flash"), cell("sparse")), Set.of(cell("dense")))
          .allMatch(cells -> cells.size() == 1 || !cells.contains(cell("dense")));
    }
  }

  @Test
  void impactTellsMemoryAndCountersInOneDocument() {
    CommandLineTest.Outcome outcome =
        attention(
            "impact",
            "--variants",
            "dilated:segments=64,rates=2,flash",
            "--lengths",
            "300",
            "--heads",
            "2",
            "--dim",
            "16",
            "--forks",
            "1",
            "--trials",
            "1",
            "--json",
            "--runs",
            folder.resolve("runs").toString());

    assertThat(outcome.code()).as(outcome.err()).isZero();
    JsonNode studies = JsonMapper.builder().build().readTree(outcome.out());
    assertThat(studies).hasSize(2);
    List<AttentionImpactView.Row> rows =
        List.of(
            Json.read(studies.get(1).get("impact").toString(), AttentionImpactView.Row[].class));
    assertThat(rows)
        .extracting(AttentionImpactView.Row::kept)
        .containsExactly("neither", "pattern cache", "memory pool", "both");
    AttentionImpactView.Row neither = rows.getFirst();
    AttentionImpactView.Row both = rows.getLast();
    assertThat(neither.savedBytes()).isNull();
    assertThat(neither.pieces()).isPositive();
    assertThat(neither.reused()).isZero();
    assertThat(neither.made()).isPositive();
    assertThat(neither.found()).isZero();
    assertThat(both.savedBytes()).isEqualTo(neither.peakBytes() - both.peakBytes());
    assertThat(both.savedLow()).as("one block has no interval").isNull();
    assertThat(both.pieces()).isZero();
    assertThat(both.reused()).isEqualTo(neither.pieces());
    assertThat(both.made()).isZero();
    assertThat(both.found()).isEqualTo(neither.made());
  }

  private static AttentionView.Row row(String variant, double milliseconds, String verdict) {
    boolean baseline = verdict.equals("baseline");
    double speedup = 100 / milliseconds;
    return new AttentionView.Row(
        variant,
        "16K",
        milliseconds,
        null,
        null,
        1,
        baseline ? null : speedup,
        baseline ? null : speedup * 0.9,
        baseline ? null : speedup * 1.1,
        verdict,
        baseline ? 1.0 : 0.1,
        baseline ? 1.0 : 0.1,
        1.0,
        1.0,
        1.0,
        1.0,
        null,
        null,
        0.0);
  }

  @Test
  void theFastestVariantIsNamedWithItsIntervalAndVerdict() {
    AttentionView.Row flash = row("flash", 100, "baseline");

    assertThat(AttentionQuickPrinter.fastest(List.of(flash, row("sparse", 10, "faster"))))
        .isEqualTo(
            "At 16K sparse is the fastest: 10.0× [9.00, 11.0] as fast as flash (faster), with 10.0 %"
                + " of dense attention's scores");
    assertThat(AttentionQuickPrinter.fastest(List.of(flash, row("dense", 200, "slower"))))
        .startsWith("At 16K flash is the fastest: dense, the next, is 0.500× [0.450, 0.550] as");
    assertThat(AttentionQuickPrinter.fastest(List.of(row("sparse", 10, ""))))
        .isEqualTo("At 16K sparse is the fastest");
  }

  @Test
  void variantsAreListed() {
    assertThat(attention("list").out()).contains("improved-dilated", "differential");
  }
}

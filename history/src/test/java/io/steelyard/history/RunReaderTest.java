package io.steelyard.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.history.HistoryStore.Outcome;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.Summariser;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.worker.LoadReport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunReaderTest {
  private static final String PREFILL = new Cell("fast", Workload.prefill(512, 0)).id();
  private static final String START = new Cell("fast", Workload.start(512, 64, 0)).id();

  @TempDir private Path folder;
  private Path run;

  @BeforeEach
  void finishARun() {
    Map<String, Study.Engine> engines = new LinkedHashMap<>();
    engines.put("slow", new Study.Engine("slow", "engine", Map.of()));
    engines.put("fast", new Study.Engine("fast", "engine", Map.of()));
    Study study =
        Study.builder("./steelyard compare --forks 3")
            .model(new Study.Model("model", "/models/model.gguf", "abc", true, 1_000))
            .engines(engines)
            .baseline("slow")
            .metrics(List.of("prefill", "coldstart", "memory"))
            .shape(new Study.Shape(512, 64, 0, 1))
            .settings(new Study.Settings(2, 1024, "f16", true, "0-1"))
            .design(new Study.Design(3, 2, 20, 10, 180, 0.02, 42))
            .build();
    try (RunDirectory directory = RunDirectory.create(folder, "compare", study)) {
      run = directory.path();
      directory.writeEnvironment(
          Map.of(
              "hardware", hardware(), "repository", Map.of("commit", "0123abcd", "dirty", true)));
    }
    for (int block = 1; block <= 3; block++) {
      addBlock(block, 1, 1_000_000_000L);
    }
    summarise(study);
  }

  private static Map<String, Object> hardware() {
    Map<String, Object> hardware = new LinkedHashMap<>();
    hardware.put("processor", "Example CPU");
    hardware.put("cores", 2);
    return hardware;
  }

  private void addBlock(int block, int attempt, long nanos) {
    try (Journal journal = Journal.open(run.resolve("trials.jsonl"))) {
      journal.add(
          new Entry.BlockStart(
              block, attempt, "2026-02-03T04:05:06.5Z", List.of(PREFILL, START), 1, 2));
      for (String label : List.of("fast", "slow")) {
        long time = label.equals("fast") ? nanos : 2 * nanos;
        String prefill = PREFILL.replace("fast", label);
        journal.add(forkStart(block, attempt, prefill));
        journal.add(call(block, attempt, prefill, Role.WARM_UP, 0, 4 * time));
        journal.add(call(block, attempt, prefill, Role.TRIAL, 0, time));
        journal.add(call(block, attempt, prefill, Role.TRIAL, 1, time));
        journal.add(forkEnd(block, attempt, prefill));
        String start = START.replace("fast", label);
        journal.add(forkStart(block, attempt, start));
        journal.add(call(block, attempt, start, Role.FIRST, 0, 50_000_000));
        journal.add(forkEnd(block, attempt, start));
      }
      journal.add(
          new Entry.BlockEnd(
              block,
              attempt,
              "2026-02-03T04:06:06Z",
              0,
              attempt == 1 && block == 9 ? "busy" : "",
              0.1));
    }
  }

  private static Entry.ForkStart forkStart(int block, int attempt, String cell) {
    return new Entry.ForkStart(
        block,
        attempt,
        cell,
        1,
        4711,
        false,
        "b1",
        100_000_000,
        250_000_000,
        300_000_000,
        Map.of("load", 250_000_000L),
        40_000_000,
        new LoadReport.Settings("F32", "f16", "f32", 2, "0-1", 512, 1024, true, 3, 30, 135));
  }

  private static Entry.Call call(
      int block, int attempt, String cell, Role role, int index, long nanos) {
    return new Entry.Call(
        block,
        attempt,
        cell,
        1,
        "prefill",
        role,
        index,
        index,
        512,
        nanos,
        nanos,
        nanos,
        true,
        0,
        0,
        0,
        0,
        0,
        Optional.empty());
  }

  private static Entry.ForkEnd forkEnd(int block, int attempt, String cell) {
    return new Entry.ForkEnd(block, attempt, cell, 1, true, 240_000_000, 1, 1, 1, Map.of(), "");
  }

  private void summarise(Study study) {
    try (RunDirectory directory = RunDirectory.open(folder, run.toString())) {
      directory.writeSummary(
          new Summariser(
                  study, Map.of(), List.of(), List.of(), Journal.read(directory.journalFile()))
              .summarise(directory.name()));
    }
  }

  private Study plan() {
    try (RunDirectory directory = RunDirectory.open(folder, run.toString())) {
      return directory.plan();
    }
  }

  @Test
  void aFinishedRunIsReadWithAllThatDescribesIt() {
    RunRecord record = RunReader.read(run);

    assertThat(record.name()).isEqualTo(run.getFileName().toString());
    assertThat(record.source()).isEqualTo("steelyard");
    assertThat(record.started()).isEqualTo(Instant.parse("2026-02-03T04:05:06.5Z"));
    assertThat(record.command()).isEqualTo("./steelyard compare --forks 3");
    assertThat(record.model()).isEqualTo(new RunRecord.Model("model", "abc", "random"));
    assertThat(record.settings()).isEqualTo("threads=2 context=1024 kv=f16 flash=on affinity=0-1");
    assertThat(record.commit()).isEqualTo(new RunRecord.Commit("0123abcd", Optional.of(true)));
    assertThat(record.environment().get("hardware")).isEqualTo(hardware());
    assertThat(record.cells())
        .extracting(cell -> cell.figures().label() + " " + cell.figures().metric())
        .containsExactlyInAnyOrder(
            "fast pp512",
            "slow pp512",
            "fast coldstart",
            "slow coldstart",
            "fast memory",
            "slow memory");
    assertThat(record.comparisons()).hasSize(3);
  }

  @Test
  void everyTimedCallIsAValueInTheCellsUnit() {
    List<TimedValue> values = cell(RunReader.read(run), "fast", "pp512").values();

    assertThat(values).hasSize(9);
    assertThat(values).filteredOn(value -> value.role() == Role.WARM_UP).hasSize(3);
    assertThat(values)
        .filteredOn(TimedValue::isCountedTrial)
        .hasSize(6)
        // 512 tokens in a second, exactly.
        .allSatisfy(value -> assertThat(value.value()).isCloseTo(512, within(1e-9)));
  }

  @Test
  void aProcessIsAValueWhereItIsTheTrial() {
    RunRecord record = RunReader.read(run);

    // 100 ms until ready, 300 ms to load, 50 ms to the first token.
    assertThat(cell(record, "fast", "coldstart").values())
        .extracting(TimedValue::value)
        .containsExactly(450.0, 450.0, 450.0);
    assertThat(cell(record, "fast", "memory").values())
        .extracting(TimedValue::value)
        .containsExactly(240.0, 240.0, 240.0);
  }

  @Test
  void whatWasMeasuredAgainIsKeptAndDoesNotCount() {
    addBlock(9, 1, 3_000_000_000L);
    addBlock(9, 2, 1_000_000_000L);
    summarise(plan());

    List<TimedValue> values = cell(RunReader.read(run), "fast", "pp512").values();

    assertThat(values).hasSize(15);
    assertThat(values).filteredOn(value -> !value.counts()).hasSize(3);
    assertThat(values)
        .filteredOn(value -> !value.counts())
        .allSatisfy(
            value -> {
              assertThat(value.block()).isEqualTo(9);
              assertThat(value.attempt()).isEqualTo(1);
            });
  }

  @Test
  void addingADirectoryTwiceKeepsItOnceAndAResumedOneReplacesIt() {
    try (HistoryStore store = HistoryStore.open(folder.resolve("history"))) {
      assertThat(store.add(run)).isEqualTo(Outcome.ADDED);
      assertThat(store.add(run)).isEqualTo(Outcome.ALREADY_THERE);
      int before = store.find(run.getFileName().toString()).trials();

      addBlock(4, 1, 1_000_000_000L);
      summarise(plan());

      assertThat(store.add(run)).isEqualTo(Outcome.REPLACED);
      assertThat(store.find(run.getFileName().toString()).trials()).isGreaterThan(before);
      assertThat(store.list(RunFilter.all())).hasSize(1);
    }
  }

  @Test
  void theFingerprintIsTheOneThatCalibrationsAreKeptUnder() {
    try (RunDirectory directory = RunDirectory.open(folder, run.toString())) {
      directory.writeEnvironment(Environment.read(folder));
    }

    Optional<Hardware> hardware = Hardware.of(RunReader.read(run).environment());

    assertThat(hardware.orElseThrow().fingerprint()).isEqualTo(Environment.fingerprint());
  }

  @Test
  void aRunThatIsNotFinishedIsRefusedWithWhatFinishesIt() throws Exception {
    Files.delete(run.resolve("summary.json"));

    assertRefused("isn't finished", "./steelyard resume " + run);
  }

  @Test
  void aFolderThatIsNoRunIsRefused() {
    assertThatThrownBy(() -> RunReader.read(folder))
        .isInstanceOf(HistoryException.class)
        .hasMessageContaining("is no run");
  }

  @Test
  void damagedFilesAreRefusedByName() throws Exception {
    for (String file : List.of("plan.json", "summary.json", "environment.json")) {
      String whole = Files.readString(run.resolve(file));
      for (String damaged :
          List.of("", "null", "[", "{}x", whole.substring(0, whole.length() / 2), "\u0000")) {
        if (file.equals("environment.json") && damaged.equals("null")) {
          continue; // says nothing, and so is nothing wrong
        }
        Files.writeString(run.resolve(file), damaged);
        assertThatThrownBy(() -> RunReader.read(run))
            .as("%s: '%s'", file, damaged)
            .isInstanceOf(HistoryException.class)
            .hasMessageContaining(file);
      }
      Files.writeString(run.resolve(file), whole);
    }
    Files.writeString(
        run.resolve("trials.jsonl"), "{\"kind\":\"none\"}\n", StandardOpenOption.APPEND);
    assertRefused("trials.jsonl");
  }

  @Test
  void aSummaryOfANewerSchemaIsRefused() throws Exception {
    Path summary = run.resolve("summary.json");
    Files.writeString(
        summary, Files.readString(summary).replace("steelyard/summary/1", "steelyard/summary/2"));

    assertRefused("steelyard/summary/2");
  }

  @Test
  void figuresThatAreNotFiniteAreRefused() throws Exception {
    Path summary = run.resolve("summary.json");
    Files.writeString(
        summary,
        Files.readString(summary).replaceFirst("\"mean\" : [0-9.E]+", "\"mean\" : \"NaN\""));

    assertThatThrownBy(() -> RunReader.read(run)).isInstanceOf(HistoryException.class);
  }

  @Test
  void whatIsNullIsNamed() throws Exception {
    Path summary = run.resolve("summary.json");
    String whole = Files.readString(summary);
    Files.writeString(summary, whole.replaceFirst("\"label\" : \"[a-z]+\"", "\"label\" : null"));
    assertRefused("summary.json is damaged: 'cells[0].label' is null");
    Files.writeString(summary, whole);
    Path journal = run.resolve("trials.jsonl");
    Files.writeString(
        journal, Files.readString(journal).replaceFirst("\"role\":\"[A-Z_]+\"", "\"role\":null"));
    assertRefused("trials.jsonl is damaged: 'role' of line 3 is null");
  }

  @Test
  void anIntervalThatIsUpsideDownIsRefused() throws Exception {
    Path summary = run.resolve("summary.json");
    Files.writeString(
        summary,
        Files.readString(summary)
            .replaceFirst(
                "\"low\" : [0-9.E]+,\\s+\"high\" : [0-9.E]+", "\"low\" : 2.0, \"high\" : 1.0"));

    assertThatThrownBy(() -> RunReader.read(run))
        .isInstanceOf(HistoryException.class)
        .hasMessageContaining("upside down");
  }

  @Test
  void aClockThatIsFarOffIsRefused() throws Exception {
    Path journal = run.resolve("trials.jsonl");
    String whole = Files.readString(journal);
    for (String time : List.of("1969-12-31T23:59:59Z", "+1000000000-12-31T23:59:59Z", "noon")) {
      Files.writeString(journal, whole.replace("2026-02-03T04:05:06.5Z", time));
      assertThatThrownBy(() -> RunReader.read(run))
          .as(time)
          .isInstanceOf(HistoryException.class)
          .hasMessageContaining(time);
    }
  }

  @Test
  void aProcessThatNeverStartedIsRefused() throws Exception {
    Path journal = run.resolve("trials.jsonl");
    Files.write(
        journal,
        Files.readAllLines(journal).stream()
            .filter(line -> !(line.contains("fork-start") && line.contains(START)))
            .toList());

    assertRefused("trials.jsonl", "never started");
  }

  @Test
  void changedValuesAreReadOrRefusedAndNothingElse() throws Exception {
    change(13);
  }

  @Test
  @Tag("soak")
  void allValuesChangedInAllWaysAreReadOrRefusedAndNothingElse() throws Exception {
    change(1);
  }

  /** Puts other values in the place of each, every so many of the changes. */
  private void change(int step) throws Exception {
    Pattern value = Pattern.compile("(?<=:) ?(\"[^\"]*\"|[-0-9][-+.0-9eE]*|true|false|null)");
    List<String> others =
        List.of("null", "-1", "0", "1e999", "1e18", "\"\"", "\"x\"", "[null]", "{}", "[[]]");
    int changes = 0;
    for (String name : List.of("plan.json", "summary.json", "trials.jsonl", "environment.json")) {
      Path file = run.resolve(name);
      String whole = Files.readString(file);
      for (MatchResult found : value.matcher(whole).results().toList()) {
        for (String other : others) {
          if (changes++ % step != 0) {
            continue;
          }
          Files.writeString(
              file, whole.substring(0, found.start()) + other + whole.substring(found.end()));
          assertThatCode(
                  () -> {
                    try {
                      RunReader.read(run);
                    } catch (HistoryException e) {
                      assertThat(e.getMessage()).isNotBlank();
                    }
                  })
              .as("%s at %d: %s in place of %s", name, found.start(), other, found.group())
              .doesNotThrowAnyException();
        }
      }
      Files.writeString(file, whole);
    }
    assertThat(changes).isGreaterThan(1_000);
  }

  private void assertRefused(String... parts) {
    assertThatThrownBy(() -> RunReader.read(run))
        .isInstanceOfSatisfying(
            HistoryException.class, e -> assertThat(e.getMessage()).contains(parts));
  }

  private static MeasuredCell cell(RunRecord record, String label, String metric) {
    return record.cells().stream()
        .filter(cell -> cell.figures().label().equals(label))
        .filter(cell -> cell.figures().metric().equals(metric))
        .findFirst()
        .orElseThrow();
  }
}

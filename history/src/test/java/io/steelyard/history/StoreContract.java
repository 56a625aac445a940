package io.steelyard.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.history.HistoryStore.Outcome;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a store does, whatever its database. */
abstract class StoreContract {
  private static final Instant NOON = SampleRuns.NOON;

  private final List<HistoryStore> opened = new ArrayList<>();
  HistoryStore store;

  /** Opens the store of this test, once more each time. */
  abstract HistoryStore open();

  /** Opens a store beside it that nothing has made yet, the same one each time. */
  abstract HistoryStore openFresh();

  /** Changes its database behind its back. */
  abstract void execute(String sql) throws Exception;

  private HistoryStore another() {
    HistoryStore other = open();
    opened.add(other);
    return other;
  }

  @BeforeEach
  void openStore() throws Exception {
    store = another();
  }

  @AfterEach
  void closeStores() {
    opened.forEach(HistoryStore::close);
  }

  private static Instant day(int days) {
    return NOON.plus(Duration.ofDays(days));
  }

  @Test
  void aRunComesBackAsItWasAdded() {
    RunRecord run = SampleRuns.run("one", NOON, 100);

    assertThat(store.add(run)).isEqualTo(Outcome.ADDED);

    StoredRun stored = another().find("one");
    assertThat(stored.source()).isEqualTo("steelyard");
    assertThat(stored.started()).isEqualTo(NOON);
    assertThat(stored.command()).isEqualTo(run.command());
    assertThat(stored.model()).isEqualTo(run.model());
    assertThat(stored.settings()).isEqualTo(run.settings());
    assertThat(stored.commit()).isEqualTo(run.commit());
    assertThat(stored.hardware())
        .isEqualTo(Hardware.of(run.environment()).map(Hardware::fingerprint));
    assertThat(stored.processor()).isEqualTo("Example CPU");
    assertThat(stored.cells()).isEqualTo(1);
    assertThat(stored.trials()).isEqualTo(12);
    RunContents contents = store.show(stored);
    assertThat(contents.environment()).isEqualTo(run.environment());
    assertThat(contents.comparisons()).isEqualTo(run.comparisons());
    assertThat(contents.cells())
        .extracting(RunContents.Cell::figures)
        .containsExactly(run.cells().getFirst().figures());
    assertThat(store.values(contents.cells().getFirst().number()))
        .containsExactlyInAnyOrderElementsOf(run.cells().getFirst().values());
  }

  @Test
  void theSameRunIsKeptOnce() {
    RunRecord run = SampleRuns.run("one", NOON, 100);

    assertThat(store.add(run)).isEqualTo(Outcome.ADDED);
    assertThat(store.add(run)).isEqualTo(Outcome.ALREADY_THERE);

    assertThat(store.list(RunFilter.all())).hasSize(1);
    assertThat(store.find("one").trials()).isEqualTo(12);
  }

  @Test
  void aResumedRunReplacesItsEarlierStateAndKeepsItsNumber() {
    RunRecord early = SampleRuns.run("one", NOON, 100);
    List<MeasuredCell> more = List.of(SampleRuns.cell("x", "steelyard", "tg64", 101, 5, 3));
    store.add(early);
    long number = store.find("one").number();

    assertThat(store.add(SampleRuns.withExtent(early, 200, more))).isEqualTo(Outcome.REPLACED);

    assertThat(store.list(RunFilter.all())).hasSize(1);
    assertThat(store.find("one").number()).isEqualTo(number);
    assertThat(store.find("one").trials()).isEqualTo(20);
    assertThat(store.add(early)).as("the earlier state").isEqualTo(Outcome.ALREADY_THERE);
    assertThat(store.find("one").trials()).isEqualTo(20);
  }

  @Test
  void aNumberIsNotGivenToAnotherRun() {
    RunRecord first = SampleRuns.run("one", NOON, 100);
    store.add(first);
    store.add(SampleRuns.withExtent(first, 200, first.cells()));

    store.add(SampleRuns.run("two", NOON, 100));

    assertThat(store.list(RunFilter.all())).extracting(StoredRun::number).doesNotHaveDuplicates();
  }

  @Test
  void runsAreListedTheNewestFirst() {
    store.add(SampleRuns.run("middle", day(2), 100));
    store.add(SampleRuns.run("old", day(1), 100));
    store.add(SampleRuns.run("new", day(3), 100));

    assertThat(store.list(RunFilter.all()))
        .extracting(StoredRun::name)
        .containsExactly("new", "middle", "old");
    assertThat(store.list(RunFilter.newest(2)))
        .extracting(StoredRun::name)
        .containsExactly("new", "middle");
    assertThat(store.list(new RunFilter(Optional.of("jmh"), Optional.empty(), 9))).isEmpty();
    assertThat(store.list(new RunFilter(Optional.of("steelyard"), Optional.of("model"), 9)))
        .hasSize(3);
  }

  @Test
  void runsOfOneNameAreToldApartByTheirNumbers() {
    RunRecord run = SampleRuns.run("nightly", NOON, 100);
    RunRecord other =
        new RunRecord(
            run.name(),
            run.source(),
            day(1),
            run.command(),
            run.model(),
            run.settings(),
            run.commit(),
            run.environment(),
            "another identity",
            "another content",
            0,
            run.cells(),
            List.of());
    store.add(run);
    store.add(other);

    long number = store.list(RunFilter.all()).getFirst().number();
    assertThat(store.find(Long.toString(number)).started()).isEqualTo(day(1));
    assertThatThrownBy(() -> store.find("nightly"))
        .isInstanceOf(HistoryException.class)
        .hasMessageContaining("2 runs")
        .hasMessageContaining("by its number");
    assertThatThrownBy(() -> store.find("weekly"))
        .isInstanceOf(HistoryException.class)
        .hasMessageContaining("there is no run 'weekly'");
  }

  @Test
  void aTrendHoldsOnlyEqualHardware() {
    store.add(SampleRuns.run("a", day(1), 100));
    store.add(SampleRuns.run("b", day(2), SampleRuns.ELSEWHERE, 500, 3, 3));
    store.add(SampleRuns.run("c", day(3), 110));

    Trend trend = store.trend(TrendQuery.of("tg64").label("steelyard"));

    assertThat(trend.points()).extracting(Trend.Point::name).containsExactly("a", "c");
    assertThat(trend.points()).extracting(Trend.Point::mean).containsExactly(100.0, 110.0);
    assertThat(trend.series().processor()).isEqualTo("Example CPU");
    assertThat(trend.elsewhere()).isEqualTo(1);
    String elsewhere = store.find("b").hardware().orElseThrow();
    assertThat(store.trend(TrendQuery.of("tg64").hardware(elsewhere)).points())
        .extracting(Trend.Point::name)
        .containsExactly("b");
  }

  @Test
  void aTrendHoldsOnlyEqualWeightsAndSettings() {
    RunRecord.Model model = new RunRecord.Model("model", "abc", "real");
    store.add(SampleRuns.run("a", day(1), 100));
    store.add(SampleRuns.with(SampleRuns.run("b", day(2), 100), model, "threads=1"));
    store.add(
        SampleRuns.with(
            SampleRuns.run("c", day(3), 100),
            new RunRecord.Model("model", "def", "real"),
            "threads=2"));
    store.add(SampleRuns.run("d", day(4), 100));

    Trend trend = store.trend(TrendQuery.of("tg64").engine("steelyard").model("model"));

    assertThat(trend.points()).extracting(Trend.Point::name).containsExactly("a", "d");
    assertThat(trend.elsewhere()).isEqualTo(2);
  }

  @Test
  void thereIsNoTrendOfUnknownHardware() {
    store.add(SampleRuns.run("a", NOON, Map.of(), 100, 3, 3));

    assertThatThrownBy(() -> store.trend(TrendQuery.of("tg64")))
        .isInstanceOf(HistoryException.class)
        .hasMessageContaining("only equal hardware is compared");
    assertThatThrownBy(() -> store.trend(TrendQuery.of("pp512")))
        .isInstanceOf(HistoryException.class)
        .hasMessageContaining("no run")
        .hasMessageContaining("pp512");
  }

  @Test
  void aFasterRunIsSaidToBeFasterAndTheSameToBeEquivalent() {
    store.add(SampleRuns.run("before", day(1), SampleRuns.HERE, 100, 6, 3));
    store.add(SampleRuns.run("after", day(2), SampleRuns.HERE, 120, 6, 3));
    store.add(SampleRuns.run("again", day(3), SampleRuns.HERE, 100, 6, 3));

    RunComparison.Row faster = only(compare("after", "before"));
    RunComparison.Row same = only(compare("again", "before"));

    assertThat(faster.verdict()).isEqualTo("faster");
    // Noise of 0.2 % over 18 trials.
    assertThat(faster.ratio()).isCloseTo(1.2, within(0.01));
    assertThat(faster.low()).isLessThan(faster.ratio());
    assertThat(faster.high()).isGreaterThan(faster.ratio());
    assertThat(same.verdict()).isEqualTo("equivalent");
  }

  @Test
  void thereIsNoVerdictAcrossHardwareWeightsOrSettings() {
    RunRecord.Model model = new RunRecord.Model("model", "abc", "real");
    store.add(SampleRuns.run("a", day(1), 100));
    store.add(SampleRuns.run("b", day(2), SampleRuns.ELSEWHERE, 200, 3, 3));
    store.add(SampleRuns.run("c", day(3), Map.of(), 200, 3, 3));
    store.add(SampleRuns.with(SampleRuns.run("d", day(4), 200), model, "threads=1"));
    store.add(
        SampleRuns.with(
            SampleRuns.run("e", day(4), 200),
            new RunRecord.Model("model", "abc", "random"),
            "threads=2"));

    for (String other : List.of("b", "c", "d", "e")) {
      RunComparison.Row row = only(compare(other, "a"));
      assertThat(row.verdict()).as(other).isEqualTo("not comparable");
      assertThat(row.note()).as(other).isNotEmpty();
      assertThat(row.ratio()).as(other).isCloseTo(2, within(0.02));
    }
  }

  @Test
  void oneProcessAllowsNoVerdict() {
    store.add(SampleRuns.run("a", day(1), SampleRuns.HERE, 100, 1, 9));
    store.add(SampleRuns.run("b", day(2), SampleRuns.HERE, 200, 1, 9));

    RunComparison.Row row = only(compare("b", "a"));

    assertThat(row.verdict()).isEqualTo("inconclusive");
    assertThat(row.low()).isNull();
    assertThat(row.note()).contains("two processes");
  }

  @Test
  void cellsThatOnlyOneRunHasAreNamed() {
    store.add(SampleRuns.run("a", day(1), 100));
    store.add(
        SampleRuns.run(
            "b",
            day(2),
            SampleRuns.HERE,
            List.of(
                SampleRuns.cell("b", "llamacpp", "tg64", 90, 3, 3),
                new MeasuredCell(SampleRuns.figures("steelyard", "tg64", null, 0, 0), List.of()))));

    RunComparison comparison = compare("b", "a");

    assertThat(comparison.onlySubject()).containsExactly("llamacpp, tg64");
    assertThat(comparison.onlyBaseline()).isEmpty();
    assertThat(only(comparison).verdict()).isEqualTo("not comparable");
    assertThat(only(comparison).note()).contains("failed");
  }

  private RunComparison compare(String subject, String baseline) {
    return store.compare(store.find(subject), store.find(baseline), 0.02);
  }

  private static RunComparison.Row only(RunComparison comparison) {
    assertThat(comparison.rows()).hasSize(1);
    return comparison.rows().getFirst();
  }

  @Test
  void whatIsPrunedIsGoneAndTheRestStays() {
    for (int i = 1; i <= 5; i++) {
      store.add(SampleRuns.run("run" + i, day(i), 100));
    }

    assertThat(store.prunable(new PruneRule.KeepNewest(5))).isEmpty();
    assertThat(store.prunable(new PruneRule.KeepNewest(9))).isEmpty();
    List<StoredRun> old = store.prunable(new PruneRule.Before(day(3)));
    assertThat(old).extracting(StoredRun::name).containsExactly("run1", "run2");
    assertThat(store.list(RunFilter.all())).as("nothing goes before it is said").hasSize(5);
    assertThat(store.remove(old)).isEqualTo(2);
    assertThat(store.remove(old)).as("again").isZero();
    assertThat(store.remove(store.prunable(new PruneRule.KeepNewest(1)))).isEqualTo(2);

    assertThat(store.list(RunFilter.all())).extracting(StoredRun::name).containsExactly("run5");
    RunContents kept = store.show(store.find("run5"));
    assertThat(store.values(kept.cells().getFirst().number())).hasSize(12);
    assertThat(kept.environment()).containsKey("hardware");
  }

  @Test
  void aTableOfCellsAndAnObjectHoldWhatTheRunsHold() throws Exception {
    store.add(SampleRuns.run("a, \"quoted\"", day(1), 100));
    store.add(SampleRuns.run("b", day(2), 110));
    List<StoredRun> runs = store.list(RunFilter.all());
    StringWriter cells = new StringWriter();
    StringWriter values = new StringWriter();
    StringWriter json = new StringWriter();

    Export export = new Export(store);
    export.cellsAsCsv(runs, cells);
    export.valuesAsCsv(runs, values);
    export.asJson(runs, true, json);

    assertThat(cells.toString().lines()).hasSize(3);
    assertThat(cells.toString()).contains("\"a, \"\"quoted\"\"\",steelyard,2026-03-02T12:00:00Z");
    assertThat(values.toString().lines()).hasSize(1 + 24);
    JsonNode read = JsonMapper.builder().build().readTree(json.toString());
    assertThat(read.get("schema").asString()).isEqualTo(Export.SCHEMA);
    assertThat(read.get("runs")).hasSize(2);
    JsonNode newest = read.get("runs").get(0);
    assertThat(newest.get("name").asString()).isEqualTo("b");
    assertThat(newest.get("environment").get("hardware").get("cores").asInt()).isEqualTo(2);
    assertThat(newest.get("cells").get(0).get("mean").asDouble()).isEqualTo(110);
    assertThat(newest.get("cells").get(0).get("values")).hasSize(12);
  }

  @Test
  void twoWritersAtOnceBothSucceed() throws Exception {
    int each = 15;
    CyclicBarrier start = new CyclicBarrier(2);
    try (ExecutorService writers = Executors.newFixedThreadPool(2)) {
      List<Future<Integer>> added = new ArrayList<>();
      for (String writer : List.of("a", "b")) {
        Callable<Integer> work =
            () -> {
              int count = 0;
              try (HistoryStore own = open()) {
                start.await();
                for (int i = 0; i < each; i++) {
                  Outcome shared = own.add(SampleRuns.run("shared" + i, day(i), 100));
                  Outcome alone = own.add(SampleRuns.run(writer + i, day(i), 100));
                  assertThat(alone).isEqualTo(Outcome.ADDED);
                  count += shared == Outcome.ADDED ? 1 : 0;
                }
              }
              return count;
            };
        added.add(writers.submit(work));
      }
      assertThat(added.get(0).get() + added.get(1).get())
          .as("each shared run is added by one of the two")
          .isEqualTo(each);
    }
    assertThat(store.list(RunFilter.all())).hasSize(3 * each);
  }

  @Test
  void manyMayMakeAStoreAtOnce() throws Exception {
    int openers = 6;
    CyclicBarrier start = new CyclicBarrier(openers);
    try (ExecutorService threads = Executors.newFixedThreadPool(openers)) {
      List<Future<Outcome>> outcomes = new ArrayList<>();
      for (int i = 0; i < openers; i++) {
        String name = "run" + i;
        outcomes.add(
            threads.submit(
                () -> {
                  start.await();
                  try (HistoryStore own = openFresh()) {
                    return own.add(SampleRuns.run(name, NOON, 100));
                  }
                }));
      }
      for (Future<Outcome> outcome : outcomes) {
        assertThat(outcome.get()).isEqualTo(Outcome.ADDED);
      }
    }
    try (HistoryStore made = openFresh()) {
      assertThat(made.list(RunFilter.all())).hasSize(openers);
    }
  }

  @Test
  void aStoreOfANewerVersionIsRefusedAndLeftAsItIs() throws Exception {
    store.add(SampleRuns.run("one", NOON, 100));
    int newer = Schema.VERSION + 1;
    execute(
        "INSERT INTO flyway_schema_history (installed_rank, version, description, type, script,"
            + " checksum, installed_by, execution_time, success) VALUES (99, '"
            + newer
            + "', 'later', 'SQL', 'V.sql', 0, '', 1, true)");

    assertThatThrownBy(this::open)
        .isInstanceOf(HistoryException.class)
        .hasMessageContaining(store.place())
        .hasMessageContaining("newer Steelyard")
        .hasMessageContaining("version " + newer)
        .hasMessageNotContaining("user=");

    execute("DELETE FROM flyway_schema_history WHERE installed_rank = 99");
    assertThat(another().find("one").trials()).isEqualTo(12);
  }

  @Test
  void aRunThatCannotBeWrittenLeavesNothing() {
    TimedValue value = TimedValue.trial(1, 0, 100);
    MeasuredCell twice =
        new MeasuredCell(
            SampleRuns.figures("steelyard", "tg64", 100.0, 1, 2), List.of(value, value));

    assertThatThrownBy(
            () -> store.add(SampleRuns.run("broken", NOON, SampleRuns.HERE, List.of(twice))))
        .isInstanceOf(HistoryException.class)
        .hasMessageContaining("can't write " + store.place());

    assertThat(store.list(RunFilter.all())).isEmpty();
    assertThat(store.add(SampleRuns.run("sound", NOON, 100))).isEqualTo(Outcome.ADDED);
  }
}

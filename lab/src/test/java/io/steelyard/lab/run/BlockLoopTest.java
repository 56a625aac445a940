package io.steelyard.lab.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.lab.RunListener;
import io.steelyard.lab.TestData;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.worker.MachineCounters;
import io.steelyard.lab.worker.WorkerException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlockLoopTest {
  private static final int CELLS = 4;
  private static final long SECOND = 1_000_000_000;

  @TempDir Path folder;

  private final FakeMachine machine = new FakeMachine();
  private final List<String> notes = new ArrayList<>();
  private final List<Double> shares = new ArrayList<>();
  private final List<String> details = new ArrayList<>();

  /** Processes that die once they are loaded, as {@link #ids} writes them. */
  private final List<String> failing = new ArrayList<>();

  private Look look = Look.NOTHING;
  private Study study = TestData.study(List.of("prefill", "decode"), "a", "b");
  private Path file;
  private double stolenShare;

  @BeforeEach
  void name() {
    file = folder.resolve("trials.jsonl");
    design(d -> new Study.Design(5, 1, d.warmUpCap(), 1, 180, d.margin(), 42));
  }

  /** A machine that behaves as told; its clock moves only when work is done. */
  private static final class FakeMachine implements BlockLoop.Machine {
    private final Map<String, Sentinel.Reading> readings = new LinkedHashMap<>();
    private final List<String> stealing = new ArrayList<>();
    private long now = 5 * SECOND;
    private long forkNanos = SECOND;
    private int sentinels;
    private long steal;
    private long total;

    @Override
    public Sentinel.Reading sentinel() {
      sentinels++;
      return readings.getOrDefault(
          Integer.toString(sentinels), new Sentinel.Reading(1_000_000, 2_000_000));
    }

    @Override
    public MachineCounters counters() {
      return new MachineCounters(steal, total, 0, 0, 0, 0, 0);
    }

    @Override
    public long nanos() {
      return now;
    }

    /** What one process does to the machine. */
    void work(BlockLoop.Place place) {
      now += forkNanos;
      total += 1_000;
      if (stealing.contains(place.block() + "." + place.attempt())) {
        steal += 20;
      }
    }
  }

  /** Pulls the plug at the n-th journal entry. */
  private static final class PlugPulled extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private final class FakeForks implements BlockLoop.Forks {
    private final Journal journal;
    private final List<BlockLoop.Place> places = new ArrayList<>();
    private int entriesLeft;

    FakeForks(Journal journal, int entriesLeft) {
      this.journal = journal;
      this.entriesLeft = entriesLeft;
    }

    private void add(Entry entry) {
      if (entriesLeft-- == 0) {
        throw new PlugPulled();
      }
      journal.add(entry);
    }

    @Override
    public void run(List<BlockLoop.Place> together) {
      assertThat(together)
          .extracting(place -> place.cell().workload())
          .containsOnly(together.getFirst().cell().workload());
      together.forEach(this::run);
    }

    private void run(BlockLoop.Place place) {
      places.add(place);
      String cell = place.cell().id();
      machine.work(place);
      if (failing.contains(
          place.block() + "." + place.attempt() + " " + cell + " " + place.fork())) {
        add(TestData.forkStart(place.block(), place.attempt(), cell, place.fork(), false));
        add(TestData.forkEnd(place.block(), place.attempt(), cell, place.fork(), "it died"));
        return;
      }
      add(TestData.forkStart(place.block(), place.attempt(), cell, place.fork(), false));
      for (int trial = 0; trial < place.trials(); trial++) {
        add(
            TestData.stolen(
                TestData.call(
                    place.block(),
                    place.attempt(),
                    cell,
                    place.fork(),
                    Role.TRIAL,
                    trial,
                    512,
                    SECOND / 10,
                    true),
                stolenShare));
      }
      add(TestData.forkEnd(place.block(), place.attempt(), cell, place.fork(), ""));
    }
  }

  @Test
  void aProcessThatFailsGetsOneMoreChance() throws WorkerException {
    failing.add("2.1 a/pp512 1");

    assertThat(ids(run())).hasSize(5 * CELLS + 1).contains("2.1 a/pp512 2");
    assertThat(notes).isEmpty();
    assertThat(blocks().all()).allMatch(block -> block.forks().get("a/pp512").sound());
  }

  @Test
  void aCellThatFailedTwiceIsNotTriedInLaterBlocks() throws WorkerException {
    failing.addAll(List.of("2.1 a/pp512 1", "2.1 a/pp512 2"));

    List<String> places = ids(run());

    assertThat(places).hasSize(5 * CELLS + 1 - 3);
    assertThat(places).noneMatch(id -> id.matches("[345].* a/pp512 .*"));
    assertThat(notes)
        .containsExactly("a/pp512 failed in block 2 and is left out of those that follow");
    assertThat(run()).as("nor by a resumption").isEmpty();
  }

  @Test
  void aCellThatFailedIsTriedAgainWhereItsBlockIsRepeated() throws WorkerException {
    failing.addAll(List.of("2.1 a/pp512 1", "2.1 a/pp512 2"));
    machine.stealing.add("2.1");

    List<String> places = ids(run());

    assertThat(places).contains("2.2 a/pp512 1", "3.1 a/pp512 1", "5.1 a/pp512 1");
    assertThat(blocks().all()).allMatch(block -> block.forks().get("a/pp512").sound());
  }

  @Test
  void aBlockThatGoesOnReadsTheSentinelAgainAndIsJudgedByBothReadings() throws WorkerException {
    int perFork = study.design().trials() + 2;
    assertThatThrownBy(() -> run(perFork * (3 * CELLS + 2), "a", "b"))
        .isInstanceOf(PlugPulled.class);
    machine.readings.put("5", new Sentinel.Reading(1_200_000, 2_000_000));

    List<String> places = ids(run());

    assertThat(places.subList(0, 2)).allMatch(id -> id.startsWith("4.1 "));
    assertThat(places.subList(2, 2 + CELLS)).allMatch(id -> id.startsWith("4.2 "));
    assertThat(notes)
        .containsExactly(
            "block 4 was disturbed (the sentinel's compute kernel took 1.20 times its median); it"
                + " is measured again");
    assertThat(blocks().all()).noneMatch(Blocks.Block::disturbed);
  }

  @Test
  void timeStolenBeforeAnInterruptionDisturbsTheBlockThatGoesOn() throws WorkerException {
    int perFork = study.design().trials() + 2;
    stolenShare = 0.05;
    assertThatThrownBy(() -> run(perFork * 2, "a", "b")).isInstanceOf(PlugPulled.class);
    stolenShare = 0;

    List<String> places = ids(run());

    assertThat(places.subList(2, 2 + CELLS)).allMatch(id -> id.startsWith("1.2 "));
    assertThat(notes).first().asString().contains("the hypervisor took 2.5 %");
  }

  @Test
  void whereMostAttemptsAreDisturbedNoBlockIsMeasuredAgain() throws WorkerException {
    for (int block = 1; block <= 5; block++) {
      machine.stealing.addAll(List.of(block + ".1", block + ".2"));
    }

    List<String> places = ids(run());

    assertThat(places).filteredOn(id -> id.startsWith("1.2 ")).hasSize(CELLS);
    assertThat(places).noneMatch(id -> id.startsWith("2.2 ") || id.startsWith("3.2 "));
    assertThat(notes)
        .contains(
            "block 2 was disturbed (the hypervisor took 2.0 % of processor time); it stands all"
                + " the same");
    assertThat(run()).as("nor by a resumption").isEmpty();
  }

  @Test
  void onceItsBudgetIsSpentAQuickStudyMeasuresNoBlockAgain() throws WorkerException {
    budget(2.5 * CELLS);
    study = study.toBuilder().sharing(true).build();
    machine.stealing.addAll(List.of("1.1", "3.1"));

    assertThat(ids(run()))
        .anyMatch(id -> id.startsWith("1.2 "))
        .noneMatch(id -> id.startsWith("3.2 "));
    assertThat(notes)
        .contains(
            "block 3 was disturbed (the hypervisor took 2.0 % of processor time); it stands all"
                + " the same");
  }

  @Test
  void aBlockThatIsMeasuredAgainAddsWorkAndBeginsNothingAnew() throws WorkerException {
    machine.readings.put("1", new Sentinel.Reading(1_200_000, 2_000_000));

    run();

    int again = 0;
    for (int i = 0; i < details.size(); i++) {
      again = details.get(i).equals("block 1: sentinel") ? i : again;
    }
    assertThat(details.subList(0, again)).anyMatch(detail -> detail.startsWith("block 3"));
    assertThat(shares.get(again)).as("three attempts of six are over").isEqualTo(0.5);
    assertThat(shares.subList(again, shares.size())).isSorted();
  }

  private List<BlockLoop.Place> run() throws WorkerException {
    return run(Integer.MAX_VALUE, "a", "b");
  }

  private List<BlockLoop.Place> run(int entries, String... labels) throws WorkerException {
    try (Journal journal = Journal.open(file)) {
      FakeForks forks = new FakeForks(journal, entries);
      new BlockLoop(
              study, journal, Set.of(labels), forks, machine, Look.NOTHING, _ -> look, listener())
          .run();
      return forks.places;
    }
  }

  private RunListener listener() {
    return new RunListener() {
      @Override
      public void progress(String stage, double share, String detail) {
        shares.add(share);
        details.add(detail);
      }

      @Override
      public void note(String message) {
        notes.add(message);
      }
    };
  }

  private void design(UnaryOperator<Study.Design> change) {
    study = study.toBuilder().design(change.apply(study.design())).build();
  }

  private void forks(int forks) {
    design(
        d ->
            new Study.Design(
                forks,
                d.trials(),
                d.warmUpCap(),
                d.warmUpSeconds(),
                d.budgetSeconds(),
                d.margin(),
                d.seed()));
  }

  private void budget(double seconds) {
    design(
        d ->
            new Study.Design(
                d.forks(),
                d.trials(),
                d.warmUpCap(),
                d.warmUpSeconds(),
                seconds,
                d.margin(),
                d.seed()));
  }

  private Blocks blocks() {
    return Blocks.of(Journal.read(file));
  }

  private static List<String> ids(List<BlockLoop.Place> places) {
    return places.stream()
        .map(p -> p.block() + "." + p.attempt() + " " + p.cell().id() + " " + p.fork())
        .toList();
  }

  @Test
  void eachBlockRunsEveryCellOnceInTheOrderThatItRecords() throws WorkerException {
    List<BlockLoop.Place> places = run();

    assertThat(places).hasSize(5 * CELLS).allMatch(p -> p.attempt() == 1 && p.fork() == 1);
    List<Entry.BlockStart> starts = new ArrayList<>();
    for (Entry entry : Journal.read(file)) {
      if (entry instanceof Entry.BlockStart start) {
        starts.add(start);
      }
    }
    assertThat(starts).extracting(Entry.BlockStart::block).containsExactly(1, 2, 3, 4, 5);
    for (int block = 1; block <= 5; block++) {
      assertThat(places.subList(CELLS * (block - 1), CELLS * block))
          .extracting(p -> p.cell().id())
          .containsExactlyElementsOf(starts.get(block - 1).order())
          .containsExactlyInAnyOrder("a/pp512", "b/pp512", "a/tg64", "b/tg64");
    }
    assertThat(machine.sentinels).isEqualTo(5);
    assertThat(notes).isEmpty();
    assertThat(shares).isSorted().allMatch(share -> share >= 0 && share <= 1);
  }

  @Test
  void twoCellsChangePlacesFromBlockToBlock() throws WorkerException {
    study = TestData.study(List.of("prefill"), "a", "b");
    design(d -> new Study.Design(60, 1, d.warmUpCap(), 1, 1e9, d.margin(), 42));

    List<BlockLoop.Place> places = run();

    List<String> first = new ArrayList<>();
    for (int i = 0; i < places.size(); i += 2) {
      first.add(places.get(i).cell().label());
    }
    // Each begins one of two blocks; 30 fair coins show 6 to 24 heads but for one run in 1,000.
    for (int i = 0; i < first.size(); i += 2) {
      assertThat(first.subList(i, i + 2)).containsExactlyInAnyOrder("a", "b");
    }
    assertThat(IntStream.range(0, 30).filter(i -> first.get(2 * i).equals("a")))
        .hasSizeBetween(6, 24);
  }

  @Test
  void theOrderFollowsFromTheSeed() throws Exception {
    List<String> first = ids(run());
    Files.delete(file);
    List<String> again = ids(run());
    Files.delete(file);
    design(
        d ->
            new Study.Design(
                d.forks(),
                d.trials(),
                d.warmUpCap(),
                d.warmUpSeconds(),
                d.budgetSeconds(),
                d.margin(),
                d.seed() + 1));

    assertThat(again).isEqualTo(first);
    assertThat(ids(run())).isNotEqualTo(first);
  }

  @Test
  void whatIsSettledIsLeftOutOfTheBlocksThatFollow() throws WorkerException {
    Workload prefill = Workload.prefill(512, 0);
    look = new Look(Set.of(prefill), Map.of(), Map.of());

    List<BlockLoop.Place> places = run();

    assertThat(places).hasSize(3 * CELLS + 2 * CELLS / 2);
    assertThat(places.subList(3 * CELLS, places.size()))
        .noneMatch(place -> place.cell().workload().equals(prefill));
    assertThat(run()).as("nor is it measured by a resumption").isEmpty();
  }

  @Test
  void theRunEndsOnceEverythingIsSettled() throws WorkerException {
    look = new Look(Set.copyOf(study.workloads()), Map.of(), Map.of());

    assertThat(run()).hasSize(3 * CELLS);
    assertThat(notes).containsExactly("everything is settled after 3 blocks");
  }

  @Test
  void processesOfLaterBlocksHaveAsManyTrialsAsPay() throws WorkerException {
    Workload decode = Workload.decode(64, 0);
    look =
        new Look(Set.of(), Map.of(decode, 7), Map.of(decode, List.of("tg64 1.10× [1.00, 1.20]")));

    List<BlockLoop.Place> places = run();

    assertThat(places)
        .allMatch(
            place ->
                place.trials()
                    == (place.block() > 3 && place.cell().workload().equals(decode) ? 7 : 1));
    assertThat(details)
        .anyMatch(
            detail ->
                detail.matches(
                    "block 4 of 5: [ab]/tg64, [ab]/tg64, so far tg64 1.10× \\[1.00, 1.20\\]"))
        .anyMatch(detail -> detail.matches("block 4 of 5: [ab]/pp512, [ab]/pp512"));
  }

  @Test
  void labelsThatFailedParityAreNotMeasured() throws WorkerException {
    List<BlockLoop.Place> places = run(Integer.MAX_VALUE, "b");

    assertThat(places).hasSize(5 * 2).allMatch(p -> p.cell().label().equals("b"));
  }

  @Test
  void interruptedAtAnyEntryItGoesOnWithoutRepeatingAFinishedProcess() throws Exception {
    study = TestData.study(List.of("prefill"), "a", "b");
    design(d -> new Study.Design(3, 1, d.warmUpCap(), 1, 180, d.margin(), d.seed()));
    int cells = 2;
    List<String> whole = ids(run());
    int entriesOfForks = whole.size() * (study.design().trials() + 2);
    for (int entries = 0; entries < entriesOfForks; entries++) {
      Files.delete(file);
      int plug = entries;
      assertThatExceptionOfType(PlugPulled.class).isThrownBy(() -> run(plug, "a", "b"));
      List<Entry> before = Journal.read(file);

      List<BlockLoop.Place> after = run();

      List<Entry> all = Journal.read(file);
      assertThat(all.subList(0, before.size())).isEqualTo(before);
      assertThat(ends(all)).hasSize(whole.size());
      assertThat(new HashSet<>(ends(all))).hasSize(whole.size());
      assertThat(after).hasSize(whole.size() - ends(before).size());
      // The process that was cut short is started again under another number, if it had begun.
      boolean begun = entries % (study.design().trials() + 2) != 0;
      assertThat(after.getFirst().fork()).isEqualTo(begun ? 2 : 1);
      assertThat(blocks().all()).hasSize(3).allMatch(block -> block.forks().size() == cells);
    }
  }

  private static List<String> ends(List<Entry> entries) {
    List<String> ends = new ArrayList<>();
    for (Entry entry : entries) {
      if (entry instanceof Entry.ForkEnd end) {
        ends.add(end.block() + " " + end.cell());
      }
    }
    return ends;
  }

  @Test
  void aRunThatIsCompleteIsNotMeasuredAgain() throws Exception {
    run();
    byte[] before = Files.readAllBytes(file);

    assertThat(run()).isEmpty();
    assertThat(Files.readAllBytes(file)).isEqualTo(before);
    assertThat(machine.sentinels).isEqualTo(5);
  }

  @Test
  void aBlockIsRepeatedOnceWhereTheHypervisorStoleTime() throws WorkerException {
    machine.stealing.add("2.1");

    List<BlockLoop.Place> places = run();

    assertThat(places).hasSize(6 * CELLS);
    assertThat(places.subList(2 * CELLS, 3 * CELLS))
        .allMatch(p -> p.block() == 2 && p.attempt() == 2 && p.fork() == 1);
    assertThat(blocks().repeated()).isEqualTo(1);
    assertThat(blocks().all()).hasSize(5).noneMatch(Blocks.Block::disturbed);
    assertThat(notes)
        .containsExactly(
            "block 2 was disturbed (the hypervisor took 2.0 % of processor time); it is measured"
                + " again");
  }

  @Test
  void theLastAttemptStandsThoughItWasDisturbedToo() throws WorkerException {
    machine.stealing.addAll(List.of("4.1", "4.2"));

    assertThat(run()).hasSize(6 * CELLS);
    assertThat(blocks().repeated()).isEqualTo(1);
    assertThat(blocks().disturbed()).containsExactly(4);
    assertThat(notes).hasSize(2).last().asString().endsWith("it stands all the same");
    assertThat(run()).as("and is not repeated by a resumption").isEmpty();
  }

  @Test
  void aBlockIsRepeatedWhereTheSentinelIsOff() throws WorkerException {
    machine.readings.put("4", new Sentinel.Reading(1_060_000, 2_000_000));

    assertThat(run()).hasSize(6 * CELLS);
    assertThat(notes)
        .containsExactly(
            "block 4 was disturbed (the sentinel's compute kernel took 1.06 times its median); it"
                + " is measured again");
  }

  @Test
  void theFirstBlocksAreJudgedOnceThereIsAMedian() throws WorkerException {
    machine.readings.put("1", new Sentinel.Reading(1_000_000, 2_200_000));

    List<BlockLoop.Place> places = run();

    assertThat(places).hasSize(6 * CELLS);
    assertThat(places.subList(3 * CELLS, 4 * CELLS))
        .allMatch(p -> p.block() == 1 && p.attempt() == 2);
    assertThat(blocks().repeated()).isEqualTo(1);
    assertThat(blocks().all()).hasSize(5).noneMatch(Blocks.Block::disturbed);
    assertThat(run()).as("nothing is left for a resumption").isEmpty();
  }

  @Test
  void aLateRepetitionThatWasInterruptedIsFinishedByTheNextRun() throws WorkerException {
    machine.readings.put("2", new Sentinel.Reading(1_200_000, 2_000_000));
    int perFork = study.design().trials() + 2;
    assertThatThrownBy(() -> run(perFork * (3 * CELLS + 1), "a", "b"))
        .isInstanceOf(PlugPulled.class);

    List<BlockLoop.Place> places = run();

    assertThat(places.subList(0, CELLS - 1)).allMatch(p -> p.block() == 2 && p.attempt() == 2);
    assertThat(blocks().all()).hasSize(5).noneMatch(Blocks.Block::disturbed);
    assertThat(blocks().repeated()).isEqualTo(1);
  }

  @Test
  void noBlockBeginsWhoseBetterHalfWouldLieBeyondTheBudget() throws WorkerException {
    // A block takes 4 s: after three 12 s, after four 16 s, and half a block more is 18 s.
    budget(17);

    assertThat(run()).hasSize(4 * CELLS);
    assertThat(notes).containsExactly("the budget of 17 s is spent after 4 of 5 blocks");
    assertThat(blocks().all())
        .extracting(Blocks.Block::spentShare)
        .containsExactly(4 / 17.0, 8 / 17.0, 12 / 17.0, 1.0);
  }

  @Test
  void theLeastBlocksAreMeasuredWhateverTheBudget() throws WorkerException {
    budget(1);

    assertThat(run()).hasSize(Study.Design.LEAST_FORKS * CELLS);
    assertThat(notes).containsExactly("the budget of 1 s is spent after 3 of 5 blocks");
  }

  @Test
  void timeBetweenTheCallsCountsAgainstTheBudget() throws WorkerException {
    // The journal of a process here tells of 0.5 s; it took 100 s.
    machine.forkNanos = 100 * SECOND;
    budget(1_250);

    assertThat(run()).hasSize(3 * CELLS);
  }

  @Test
  void aBlockThatWasBegunIsFinishedThoughTheBudgetIsSpent() throws WorkerException {
    int perFork = study.design().trials() + 2;
    assertThatThrownBy(() -> run(perFork * (3 * CELLS + 1), "a", "b"))
        .isInstanceOf(PlugPulled.class);
    budget(1);

    assertThat(run()).hasSize(CELLS - 1).allMatch(p -> p.block() == 4);
    assertThat(blocks().all()).hasSize(4).allMatch(block -> block.forks().size() == CELLS);
  }

  @Test
  void timeOfEarlierProcessesOfTheRunCountsAgainstTheBudget() throws WorkerException {
    forks(3);
    run();
    forks(5);
    // Three blocks of four processes, each with 0.4 s of start and load and a call of 0.101 s:
    // 6 s, and half a block more is 7 s.
    budget(6.9);

    assertThat(run()).isEmpty();
    assertThat(notes).containsExactly("the budget of 7 s is spent after 3 of 5 blocks");
  }
}

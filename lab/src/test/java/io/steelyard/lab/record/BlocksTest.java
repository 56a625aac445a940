package io.steelyard.lab.record;

import static io.steelyard.lab.TestData.blockEnd;
import static io.steelyard.lab.TestData.blockStart;
import static io.steelyard.lab.TestData.call;
import static io.steelyard.lab.TestData.forkEnd;
import static io.steelyard.lab.TestData.forkStart;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.record.Blocks.Block;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Workload;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class BlocksTest {
  private static final Cell CELL = new Cell("a", Workload.prefill(512, 0));
  private static final String ID = CELL.id();

  private static Blocks of(Object... entries) {
    List<Entry> all = new ArrayList<>();
    for (Object entry : entries) {
      if (entry instanceof List<?> list) {
        list.forEach(e -> all.add((Entry) e));
      } else {
        all.add((Entry) entry);
      }
    }
    return Blocks.of(all);
  }

  /** A whole process whose one trial took this time. */
  private static List<Entry> fork(int block, int attempt, long nanos) {
    return List.of(
        forkStart(block, attempt, ID, 1, false),
        call(block, attempt, ID, 1, Role.TRIAL, 0, 512, nanos, true),
        forkEnd(block, attempt, ID, 1, ""));
  }

  private static List<Entry> attempt(int block, int attempt, long nanos, String disturbed) {
    List<Entry> entries = new ArrayList<>(List.of(blockStart(block, attempt)));
    entries.addAll(fork(block, attempt, nanos));
    entries.add(blockEnd(block, attempt, disturbed));
    return entries;
  }

  private static long time(Block block) {
    return block.forks().get(ID).calls(Role.TRIAL).getFirst().nanos();
  }

  @Test
  void anEmptyJournalHoldsNoBlocks() {
    assertThat(of().all()).isEmpty();
    assertThat(of().repeated()).isZero();
    assertThat(of().sound(CELL)).isEmpty();
    assertThat(of().failures(CELL)).isEmpty();
  }

  @Test
  void blocksComeInOrderWhateverTheOrderOfTheirEntries() {
    Blocks blocks = of(attempt(2, 1, 20, ""), attempt(1, 1, 10, ""), attempt(3, 1, 30, ""));

    assertThat(blocks.all()).extracting(Block::number).containsExactly(1, 2, 3);
    assertThat(blocks.all()).extracting(BlocksTest::time).containsExactly(10L, 20L, 30L);
    assertThat(blocks.sound(CELL).keySet()).containsExactly(1, 2, 3);
  }

  @Test
  void theRepetitionOfADisturbedBlockCounts() {
    Blocks blocks = of(attempt(1, 1, 10, "busy"), attempt(1, 2, 20, ""));

    assertThat(blocks.all()).hasSize(1);
    assertThat(time(blocks.all().getFirst())).isEqualTo(20);
    assertThat(blocks.all().getFirst().disturbed()).isFalse();
    assertThat(blocks.repeated()).isEqualTo(1);
  }

  @Test
  void theFirstUndisturbedAttemptCountsThoughThereIsALaterOne() {
    Blocks blocks = of(attempt(1, 1, 10, ""), attempt(1, 2, 20, "busy"));

    assertThat(time(blocks.all().getFirst())).isEqualTo(10);
    assertThat(blocks.repeated()).isZero();
  }

  @Test
  void theLastAttemptCountsWhereAllWereDisturbed() {
    Blocks blocks = of(attempt(1, 1, 10, "busy"), attempt(1, 2, 20, "busy again"));

    assertThat(time(blocks.all().getFirst())).isEqualTo(20);
    assertThat(blocks.all().getFirst().disturbed()).isTrue();
    assertThat(blocks.disturbed()).containsExactly(1);
    assertThat(blocks.repeated()).isEqualTo(1);
  }

  @Test
  void aRepetitionThatWasCutShortReplacesNothing() {
    Blocks blocks = of(attempt(1, 1, 10, "busy"), blockStart(1, 2), fork(1, 2, 20));

    assertThat(time(blocks.all().getFirst())).isEqualTo(10);
    assertThat(blocks.all().getFirst().disturbed()).isTrue();
    assertThat(blocks.repeated()).isZero();
  }

  @Test
  void aLaterJudgementOfAnAttemptOverrulesTheFirst() {
    Blocks blocks = of(attempt(1, 1, 10, ""), blockEnd(1, 1, "slow"), attempt(1, 2, 20, ""));

    assertThat(time(blocks.all().getFirst())).isEqualTo(20);
    assertThat(blocks.repeated()).isEqualTo(1);
  }

  @Test
  void theProcessesOfABlockThatIsStillBeingMeasuredCount() {
    Blocks blocks = of(attempt(1, 1, 10, ""), blockStart(2, 1), fork(2, 1, 20));

    assertThat(blocks.sound(CELL).keySet()).containsExactly(1, 2);
  }

  @Test
  void aProcessThatWasCutShortCountsForNothing() {
    Blocks blocks =
        of(
            blockStart(1, 1),
            forkStart(1, 1, ID, 1, false),
            call(1, 1, ID, 1, Role.TRIAL, 0, 512, 11, true),
            // Interrupted; the second process does the whole cell.
            forkStart(1, 1, ID, 2, true),
            call(1, 1, ID, 2, Role.TRIAL, 0, 512, 22, true),
            call(1, 1, ID, 2, Role.TRIAL, 1, 512, 33, true),
            forkEnd(1, 1, ID, 2, ""));

    ForkRecord fork = blocks.sound(CELL).get(1);
    assertThat(fork.start().hosted()).isTrue();
    assertThat(fork.calls()).extracting(Entry.Call::nanos).containsExactly(22L, 33L);
  }

  @Test
  void aProcessThatOnlyBeganCountsForNothing() {
    Blocks blocks =
        of(
            blockStart(1, 1),
            forkStart(1, 1, ID, 1, false),
            call(1, 1, ID, 1, Role.TRIAL, 0, 512, 11, true));

    assertThat(blocks.all().getFirst().forks()).isEmpty();
    assertThat(blocks.sound(CELL)).isEmpty();
    assertThat(blocks.failures(CELL)).isEmpty();
  }

  @Test
  void aFailedProcessIsNoSampleAndItsReasonIsKept() {
    Blocks blocks =
        of(
            attempt(1, 1, 10, ""),
            blockStart(2, 1),
            forkStart(2, 1, ID, 1, false),
            forkEnd(2, 1, ID, 1, "it died"),
            blockEnd(2, 1, ""),
            blockStart(3, 1),
            forkEnd(3, 1, ID, 1, "it did not start"),
            blockEnd(3, 1, ""),
            blockStart(4, 1),
            forkEnd(4, 1, ID, 1, "it died"),
            blockEnd(4, 1, ""));

    assertThat(blocks.sound(CELL).keySet()).containsExactly(1);
    assertThat(blocks.failures(CELL)).containsExactly("it died", "it did not start");
  }

  @Test
  void aProcessThatFailedBeforeAGoodOneIsNoFailureOfTheCellButIsNotForgotten() {
    Blocks blocks =
        of(
            blockStart(1, 1),
            forkStart(1, 1, ID, 1, false),
            forkEnd(1, 1, ID, 1, "it died"),
            forkStart(1, 1, ID, 2, false),
            forkEnd(1, 1, ID, 2, ""),
            blockEnd(1, 1, ""));

    assertThat(blocks.sound(CELL)).hasSize(1);
    assertThat(blocks.failures(CELL)).isEmpty();
    assertThat(blocks.ends(CELL)).extracting(Entry.ForkEnd::failure).containsExactly("it died", "");
  }

  @Test
  void aTimedOutputThatWasNotTheParityRunsIsAFailure() {
    Blocks blocks =
        of(
            blockStart(1, 1),
            forkStart(1, 1, ID, 1, false),
            call(1, 1, ID, 1, Role.TRIAL, 0, 512, 11, true),
            call(1, 1, ID, 1, Role.TRIAL, 1, 512, 11, false),
            forkEnd(1, 1, ID, 1, ""));

    assertThat(blocks.sound(CELL)).isEmpty();
    assertThat(blocks.failures(CELL))
        .containsExactly("a timed output was not the one of the parity run");
  }

  @Test
  void cellsAreKeptApart() {
    Cell other = new Cell("b", CELL.workload());
    Blocks blocks =
        of(
            attempt(1, 1, 10, ""),
            Arrays.asList(
                forkStart(1, 1, other.id(), 1, false), forkEnd(1, 1, other.id(), 1, "it died")));

    assertThat(blocks.sound(CELL)).hasSize(1);
    assertThat(blocks.failures(CELL)).isEmpty();
    assertThat(blocks.sound(other)).isEmpty();
    assertThat(blocks.failures(other)).containsExactly("it died");
  }
}

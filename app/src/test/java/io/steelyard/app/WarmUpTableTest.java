package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.study.Study;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class WarmUpTableTest {
  private static final long SECOND = 1_000_000_000L;

  private final List<Entry> journal = new ArrayList<>();

  /** Calls of 512 tokens that take these seconds, the last of them the trial. */
  private void fork(String label, double... seconds) throws IOException {
    String cell = label + "/pp512";
    Entry.ForkStart start =
        RunDetailsTest.journal().stream()
            .filter(Entry.ForkStart.class::isInstance)
            .map(Entry.ForkStart.class::cast)
            .findFirst()
            .orElseThrow();
    journal.add(
        new Entry.ForkStart(
            1, 1, cell, 1, 1, false, "", 0, 0, 0, start.phases(), 0, start.settings()));
    for (int i = 0; i < seconds.length; i++) {
      long nanos = (long) (seconds[i] * SECOND);
      boolean trial = i == seconds.length - 1;
      journal.add(
          new Entry.Call(
              1,
              1,
              cell,
              1,
              "prefill",
              trial ? Role.TRIAL : Role.WARM_UP,
              trial ? 0 : i,
              0,
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
              Optional.empty()));
    }
    journal.add(new Entry.ForkEnd(1, 1, cell, 1, true, 0, 0, 0, 0, Map.of(), ""));
  }

  @Test
  void theFirstCallsStandBesideTheTrials() throws IOException {
    Study starts = RunDetailsTest.plan();
    Study plan = starts.toBuilder().baseline("llamacpp").metrics(List.of("prefill")).build();
    fork("steelyard", 8, 2, 1, 1, 1);
    fork("llamacpp", 2, 2, 2);

    assertThat(WarmUpTable.of(plan, Blocks.of(journal)).orElseThrow().rows())
        .containsExactly(
            List.of("pp512, tok/s", "steelyard", "64.0", "256", "512", "–", "–", "512"),
            List.of("pp512", "steelyard / llamacpp", "0.250×", "1.00×", "–", "–", "–", "2.00×"),
            List.of("pp512, tok/s", "llamacpp", "256", "256", "–", "–", "–", "256"));
  }

  @Test
  void startsHaveNoWarmUp() throws IOException {
    assertThat(WarmUpTable.of(RunDetailsTest.plan(), Blocks.of(RunDetailsTest.journal())))
        .isEmpty();
  }
}

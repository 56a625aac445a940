package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.Summary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Attention over processes, as the command line shows it. */
final class AttentionRingTest {
  @TempDir private Path folder;

  private record Document(
      Summary summary,
      List<AttentionView.Row> rows,
      List<RingRanksView.Row> ranks,
      List<RingExactnessView.Row> exactness) {}

  private CommandLineTest.Outcome ring(String... arguments) {
    List<String> all = new ArrayList<>(List.of("attention", "ring", "--heads", "2"));
    all.addAll(List.of("--dim", "16", "--runs", folder.toString(), "--forks", "1"));
    all.add("--quick");
    all.addAll(List.of("--trials", "2", "--json"));
    all.addAll(List.of(arguments));
    return CommandLineTest.run("", all.toArray(String[]::new));
  }

  @Test
  @Tag("soak")
  void aRingIsProvedMeasuredAndCountedRankByRank() throws IOException {
    CommandLineTest.Outcome outcome =
        ring("--lengths", "1001", "--kv-heads", "1", "--processes", "2");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    Document document = Json.read(outcome.out(), Document.class);
    assertThat(document.rows())
        .extracting(AttentionView.Row::variant)
        .containsExactly("flash", "ring-2");
    assertThat(document.ranks())
        .extracting(RingRanksView.Row::label, RingRanksView.Row::rank)
        .containsExactly(tuple("ring-2", 0), tuple("ring-2", 1));
    assertThat(document.ranks())
        .allSatisfy(
            rank -> {
              assertThat(rank.scores()).isPositive();
              assertThat(rank.computeMilliseconds()).isPositive();
              assertThat(rank.waitMilliseconds()).isNotNegative();
              assertThat(rank.blocks()).isEqualTo(2);
            });
    // Keys and values of one head of 16 float32, and two headers of 20 bytes.
    long bytes = 2L * 1001 * 16 * 4 + 40;
    assertThat(document.ranks().stream().mapToDouble(RingRanksView.Row::sentBytes).sum())
        .isEqualTo((double) bytes);
    RingExactnessView.Row exactness = document.exactness().getFirst();
    assertThat(exactness.sentBytes()).isEqualTo(exactness.predictedBytes()).isEqualTo(bytes);
    assertThat(exactness.relativeDifference()).isLessThan(exactness.bound());
    assertThat(exactness.relativeError()).isLessThan(exactness.bound());
    assertThat(exactness.values()).isEqualTo(2 * 1001 * 16);
    assertThat(exactness.rowsChecked()).isEqualTo(2 * 1001);
    try (Stream<Path> runs = Files.list(folder)) {
      Path run = runs.findFirst().orElseThrow();
      assertThat(run.resolve("ring-time.svg")).exists();
      assertThat(run.resolve("ring-work.svg")).exists();
      assertThat(run.resolve("ranks.json")).exists();
      assertThat(Files.readString(run.resolve("report.md"))).contains("## Ranks");
    }
  }

  @Test
  void whatARingCantTakeIsRefused() {
    assertThat(ring("--lengths", "3").err())
        .contains("a length of 3 can't be split into 4 chunks for 2 ranks");
    assertThat(ring("--processes", "0").err()).contains("--processes 0 is out of range");
    assertThat(ring("--patience", "0s").err()).contains("'0s' is no duration");
    assertThat(ring("--variant", "ring-dilated-v3", "--shards", "zigzag").err())
        .contains("takes contiguous shards");
    assertThat(ring("--variant", "flash").err())
        .contains("attention flash isn't computed by ranks");
    assertThat(ring("--variant", "ring:ranks=3").err()).contains("has 'ranks' twice");
    assertThat(ring("--shards", "round").code()).isEqualTo(ExitCode.USAGE);
  }
}

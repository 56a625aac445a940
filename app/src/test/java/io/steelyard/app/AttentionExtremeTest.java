package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.steelyard.app.ExtremeClimb.Stop;
import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tier;
import io.steelyard.kernels.attention.AttentionShape;
import io.steelyard.kernels.attention.Variants;
import io.steelyard.lab.record.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How far variants go; where something is measured, in real processes. */
final class AttentionExtremeTest {
  @TempDir private Path folder;

  private CommandLineTest.Outcome extreme(String... arguments) {
    List<String> all = new ArrayList<>(List.of("attention", "extreme"));
    all.addAll(List.of("--heads", "2", "--dim", "16", "--runs", folder.toString()));
    all.addAll(List.of(arguments));
    return CommandLineTest.run("", all.toArray(String[]::new));
  }

  private ExtremeReport report(String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add("--json");
    CommandLineTest.Outcome outcome = extreme(all.toArray(String[]::new));
    assertThat(outcome.code()).as(outcome.err()).isZero();
    return Json.read(outcome.out(), ExtremeReport.class);
  }

  @Test
  void aVariantIsMeasuredAsFarAsItIsAllowed() throws IOException {
    Path climb = folder.resolve("climb");
    String[] arguments = {
      "--from",
      "1K",
      "--max",
      "2K",
      "--variants",
      "flash",
      "--simulate",
      "1B",
      "--into",
      climb.toString()
    };

    ExtremeReport report = report(arguments);

    ExtremeClimb.Reach flash = report.reached().getFirst();
    assertThat(flash.reached()).isEqualTo(2048);
    assertThat(flash.stop()).isEqualTo(Stop.MAXIMUM);
    assertThat(flash.next()).isNull();
    assertThat(flash.steps()).hasSize(2);
    assertThat(flash.steps())
        .allMatch(step -> step.measured().seconds() > 0)
        .allMatch(step -> step.measured().error() < 1e-5)
        .allMatch(step -> step.measured().scratchBytes() > 0);
    ExtremeClimb.Step last = flash.steps().getLast();
    assertThat(last.predicted().points()).isOne();
    assertThat(last.measured().scratchBytes()).isLessThanOrEqualTo(last.predicted().scratchBytes());
    // Beyond 1K 64 rows of each head.
    assertThat(last.measured().rowsChecked()).isEqualTo(2 * 64);
    ExtremeSimulation billion = report.simulation().orElseThrow();
    assertThat(billion.length()).isEqualTo(1_000_000_000);
    ExtremeSimulation.Row row = billion.rows().getFirst();
    assertThat(row.measuredLength()).isEqualTo(2048);
    assertThat(row.computeSeconds())
        .isCloseTo(row.scores() / billion.ranks() / row.scoresPerSecond(), withinPercentage(1e-6));
    assertThat(row.computeSeconds()).isBetween(row.computeLow(), row.computeHigh());
    assertThat(climb)
        .isDirectoryContaining("glob:**extreme.html")
        .isDirectoryContaining("glob:**reach.svg")
        .isDirectoryContaining("glob:**reach.png");
    assertThat(Files.readString(climb.resolve("extreme.md")))
        .contains("Predicted time of a pass: 1,000,000,000 tokens", "nothing of this was run");

    // The same command goes on with what is there: no run is made again.
    List<Path> before = runs(climb);
    assertThat(report(arguments).reached().getFirst().steps().getLast().measured())
        .isEqualTo(last.measured());
    assertThat(runs(climb)).isEqualTo(before);
    assertThat(extreme("--into", climb.toString(), "--variants", "dense").err())
        .contains("holds runs of other variants");
    CommandLineTest.Outcome plot = CommandLineTest.run("", "attention", "plot", climb.toString());
    assertThat(plot.err()).contains("is of 'attention extreme'");
  }

  @Test
  @Tag("soak")
  void oneThatFailsStopsNoOther() {
    CommandLineTest.Outcome outcome =
        CommandLineTest.run(
            "",
            "attention",
            "extreme",
            "--variants",
            "differential,dense,improved-dilated",
            "--heads",
            "2",
            "--dim",
            "15",
            "--from",
            "2K",
            "--max",
            "4K",
            "--memory",
            "3450k",
            "--threads",
            "1",
            "--runs",
            folder.toString(),
            "--json");

    assertThat(outcome.code()).isEqualTo(ExitCode.FAILED);
    ExtremeReport report = Json.read(outcome.out(), ExtremeReport.class);
    assertThat(report.reached())
        .extracting(ExtremeClimb.Reach::reached, ExtremeClimb.Reach::stop)
        .containsExactly(
            tuple(0, Stop.FAILED), tuple(2048, Stop.MEMORY), tuple(4096, Stop.MAXIMUM));
    assertThat(report.reached().getFirst().why()).contains("differential attention halves heads");
  }

  private static List<Path> runs(Path climb) throws IOException {
    try (Stream<Path> all = Files.list(climb)) {
      return all.filter(Files::isDirectory).sorted().toList();
    }
  }

  @Test
  void whatIsBeyondALimitIsNotTried() {
    ExtremeClimb.Reach memory =
        report("--variants", "flash", "--memory", "1M").reached().getFirst();
    assertThat(memory.stop()).isEqualTo(Stop.MEMORY);
    assertThat(memory.reached()).isZero();
    assertThat(memory.next().bytes()).isGreaterThan(1_000_000);
    ExtremeClimb.Reach time =
        report("--variants", "flash", "--from", "1M", "--max", "1M", "--time", "0.001s")
            .reached()
            .getFirst();
    assertThat(time.stop()).isEqualTo(Stop.TIME);
    assertThat(time.why()).contains("by a rule of thumb, the limit is 0.0010 s");
    ExtremeClimb.Reach budget =
        report("--variants", "flash", "--budget", "1s").reached().getFirst();
    assertThat(budget.stop()).isEqualTo(Stop.BUDGET);
    assertThat(budget.why()).contains("4K would take about");
  }

  @Test
  void timeIsPredictedByTheScoresThatAVariantCounts() {
    ExtremeCost cost =
        new ExtremeCost(
            new AttentionProblem(2, 2, 16, 1, 0, true, DataType.F32, Tier.REFERENCE, 1, true, true),
            "flash");
    assertThat(cost.at(1024).points()).isZero();
    cost.measured(1024, 1e-3, 0);
    double scores = 1024 * 1025.0;
    assertThat(cost.at(2048).seconds()).isCloseTo(1e-3 * 2048 * 2049 / scores, within(1e-12));
    cost.measured(2048, 1e-3 * 2048 * 2049 / scores, 0);
    cost.measured(4096, 1e-3 * 4096 * 4097 / scores, cost.at(4096).scratchBytes() + 100);
    ExtremeCost.Prediction next = cost.at(8192);
    AttentionShape shape = new AttentionShape(1, 8192, 2, 2, 16, true);
    long estimated = Variants.of("flash").estimate(shape, DataType.F32, 1).scratchBytes();
    assertThat(next.seconds()).isCloseTo(1e-3 * 8192 * 8193 / scores, within(1e-9));
    assertThat(next.low()).isCloseTo(next.seconds(), within(1e-9));
    // With twice what the last length held beyond its own.
    assertThat(next.scratchBytes()).isEqualTo(estimated + 200);
    // Queries, keys, values and results of 2 heads of 16, and a sum a row.
    assertThat(next.bytes() - next.scratchBytes()).isEqualTo(8192L * 2 * (4 * 64 + 4));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "--max 1K                            | --max 1K is shorter than --from 4K",
        "--from 0                            | '0' is no length",
        "--max 9999999999                    | is no length",
        "--memory much                       | is no amount of memory such as",
        "--memory 0                          | is no amount of memory such as",
        "--time 0                            | is no duration",
        "--forks 0                           | --forks 0 is out of range",
        "--ranks 4                           | --ranks is for --simulate alone",
        "--network 10Gbit                    | --network is for --simulate alone",
        "--simulate 1B --network fast        | is no speed of a network such as",
        "--simulate 1B --ranks 0             | --ranks 0 is out of range",
        "--simulate 1000 --ranks 1001        | --ranks 1001 is out of range",
        "--simulate 1X                       | '1X' is no length",
        "--simulate 0B                       | is no length",
        "--simulate 9999999B                 | is no length",
        "--variants flesh                    | there is no attention 'flesh'"
      })
  void wrongUsageIsToldBeforeAnythingIsMeasured(String arguments, String said) {
    CommandLineTest.Outcome outcome = extreme(arguments.split(" ", -1));

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains(said).doesNotContain("\tat ");
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void moreThanCanBeCountedIsRefused() {
    CommandLineTest.Outcome outcome =
        CommandLineTest.run(
            "",
            "attention",
            "extreme",
            "--simulate",
            "999999B",
            "--heads",
            "1024",
            "--dim",
            "4096",
            "--max",
            "4K",
            "--variants",
            "flash",
            "--runs",
            folder.toString());

    assertThat(outcome.code()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains("more bytes than 63 bits count");
  }
}

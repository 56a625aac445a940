package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class HistoryCommandTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  @TempDir private Path folder;

  /** What a command did. */
  private record Outcome(int code, String out, String err) {}

  private Outcome run(String... arguments) {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add("--history");
    all.add(folder.resolve("history").toString());
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream seenOut = new ByteArrayOutputStream();
    ByteArrayOutputStream seenErr = new ByteArrayOutputStream();
    try {
      Locale.setDefault(Locale.ROOT);
      System.setOut(new PrintStream(seenOut, true, StandardCharsets.UTF_8));
      System.setErr(new PrintStream(seenErr, true, StandardCharsets.UTF_8));
      CommandLine line = new CommandLine(HistoryCommand.class);
      line.setCaseInsensitiveEnumValuesAllowed(true);
      line.setExecutionExceptionHandler(
          (failure, command, parsed) -> {
            System.err.println(failure.getMessage());
            return failure instanceof UsageException ? ExitCode.USAGE : ExitCode.FAILED;
          });
      int code = line.execute(all.toArray(String[]::new));
      return new Outcome(
          code, seenOut.toString(StandardCharsets.UTF_8), seenErr.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }

  /** A file of hyperfine with one command of about this time. */
  private Path times(String name, double seconds) throws IOException {
    return Files.writeString(
        folder.resolve(name + ".json"),
        """
        {"results": [{"command": "work", "mean": %f, "times": [%f, %f, %f]}]}
        """
            .formatted(seconds, seconds * 0.999, seconds, seconds * 1.001));
  }

  private void imported(String... arguments) {
    List<String> all = new ArrayList<>(List.of("import", "--machine", "mine"));
    all.addAll(List.of(arguments));
    Outcome outcome = run(all.toArray(String[]::new));
    assertThat(outcome.code()).as(outcome.err()).isZero();
  }

  @Test
  void anEmptyHistorySaysHowToFillIt() {
    Outcome outcome = run("list");

    assertThat(outcome.code()).isZero();
    assertThat(outcome.out()).contains("history import");
  }

  @Test
  void aFileIsAddedOnceAndListed() throws IOException {
    Path file = times("first", 1);

    assertThat(run("import", file.toString()).out()).contains("first: added");
    assertThat(run("import", file.toString()).out()).contains("first: is there already");

    assertThat(run("list").out()).contains("first", "hyperfine", "not known");
    JsonNode listed = JSON.readTree(run("list", "--json").out());
    assertThat(listed).hasSize(1);
    assertThat(listed.get(0).get("name").asString()).isEqualTo("first");
    assertThat(run("list", "--source", "jmh").out()).contains("No such run");
  }

  @Test
  void aRunIsShownByNameOrNumber() throws IOException {
    imported(times("first", 1).toString());

    assertThat(run("show", "first").out()).contains("work", "time", "1.000");
    assertThat(run("show", "1").out()).contains("work");
    JsonNode shown = JSON.readTree(run("show", "1", "--json").out());
    assertThat(shown.get("runs").get(0).get("cells")).hasSize(1);
    Outcome missing = run("show", "second");
    assertThat(missing.code()).isEqualTo(ExitCode.FAILED);
    assertThat(missing.err()).contains("there is no run 'second'");
  }

  @Test
  void aTrendNamesWhatItFollows() throws IOException {
    imported(times("first", 1).toString(), times("second", 2).toString());

    Outcome outcome = run("trend", "time", "--label", "work");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.out()).contains("time of work", "+100.0 %");
    JsonNode trend = JSON.readTree(run("trend", "time", "--json").out());
    assertThat(trend.get("points")).hasSize(2);
    assertThat(trend.get("series").get("unit").asString()).isEqualTo("s");
    assertThat(trend.get("changes")).isEmpty();
    assertThat(trend.get("no_changes_because").asString()).contains("no fewer than");
    assertThat(outcome.out()).contains("No changes are looked for", "there are 2");
  }

  @Test
  void aTrendSaysBetweenWhichRunsItChanged() throws IOException {
    List<String> files = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      files.add(times("run" + i, (i < 14 ? 1.0 : 1.2) + 0.002 * (i % 3)).toString());
    }
    imported(files.toArray(String[]::new));

    Outcome outcome = run("trend", "time", "--plot", folder.resolve("plot").toString());

    assertThat(outcome.out()).contains("no. 14, ", "no. 15, ", "1!", "worse", "•", "0.83");
    assertThat(outcome.err()).contains("the newest 20 of 24 runs");
    // Without fonts there is no plot, and the code and a sentence say so.
    boolean drawn = !outcome.err().contains("No trend plot");
    assertThat(outcome.code()).isEqualTo(drawn ? ExitCode.FINE : ExitCode.FAILED);
    assertThat(Files.exists(folder.resolve("plot").resolve("trend.svg"))).isEqualTo(drawn);
    assertThat(Files.exists(folder.resolve("plot").resolve("trend.png"))).isEqualTo(drawn);
    JsonNode changes = JSON.readTree(run("trend", "time", "--json").out()).get("changes");
    assertThat(changes).hasSize(1);
    JsonNode change = changes.get(0);
    assertThat(change.get("kind").asString()).isEqualTo("step");
    assertThat(change.get("before").get("name").asString()).isEqualTo("run13");
    assertThat(change.get("after").get("name").asString()).isEqualTo("run14");
    assertThat(change.get("direction").asString()).isEqualTo("worse");
    assertThat(change.get("ratio").asDouble()).isLessThan(1);
    assertThat(change.get("exceeds_margin").asBoolean()).isTrue();
    assertThat(run("trend", "time", "--margin", "30%").out()).contains("worse, within 30 %");
    assertThat(run("trend", "time", "--limit", "0").code()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void filesOfUnknownMachinesHaveNoTrend() throws IOException {
    run("import", times("first", 1).toString());

    Outcome outcome = run("trend", "time");

    assertThat(outcome.code()).isEqualTo(ExitCode.FAILED);
    assertThat(outcome.err()).contains("only equal hardware is compared");
  }

  @Test
  void twoRunsOfOneMachineGetAVerdict() throws IOException {
    imported(times("slow", 2).toString(), times("fast", 1).toString());

    Outcome outcome = run("compare", "fast", "slow");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.out()).contains("2.000", "faster");
    JsonNode row = JSON.readTree(run("compare", "fast", "slow", "--json").out()).get("rows").get(0);
    assertThat(row.get("verdict").asString()).isEqualTo("faster");
  }

  @Test
  void aBadFileIsNamedAndTheOthersAreAdded() throws IOException {
    Path bad = Files.writeString(folder.resolve("bad.json"), "{\"results\": [{\"command\": ");

    Outcome outcome = run("import", bad.toString(), times("good", 1).toString(), folder.toString());

    assertThat(outcome.code()).isEqualTo(ExitCode.FAILED);
    assertThat(outcome.err())
        .contains(bad.toString(), folder + " is no run", "2 of 3 could not be added");
    assertThat(outcome.out()).contains("good: added");
    assertThat(JSON.readTree(run("list", "--json").out())).hasSize(1);
  }

  @Test
  void exportsGoToStdoutOrAFile() throws IOException {
    imported(times("first", 1).toString(), times("second", 2).toString());
    Path file = folder.resolve("out.json");

    assertThat(run("export").out().lines()).hasSize(3);
    assertThat(run("export", "first").out().lines()).hasSize(2);
    assertThat(run("export", "--format", "calls").out().lines()).hasSize(7);
    assertThat(run("export", "--format", "json", "--out", file.toString()).code()).isZero();
    assertThat(JSON.readTree(Files.readString(file)).get("runs")).hasSize(2);
  }

  @Test
  void anExportThatFailsLeavesWhatWasThere() throws IOException {
    imported(times("first", 1).toString());
    Path file = Files.writeString(folder.resolve("out.csv"), "kept");

    Outcome unknown = run("export", "second", "--out", file.toString());
    Outcome nowhere = run("export", "--out", folder.resolve("none/out.csv").toString());

    assertThat(unknown.code()).isEqualTo(ExitCode.FAILED);
    assertThat(file).hasContent("kept");
    assertThat(nowhere.code()).isEqualTo(ExitCode.FAILED);
    assertThat(nowhere.err()).contains("can't write", "none/out.csv");
    assertThat(run("export", "--out", file.toString()).code()).isZero();
    assertThat(Files.readString(file)).startsWith("run,name,");
    assertThat(folder.resolve("out.csv.part")).doesNotExist();
  }

  @Test
  void aFullDiskIsSaidWhateverTheFormat() throws IOException {
    assumeTrue(Files.exists(Path.of("/dev/full")), "not applicable here: there is no /dev/full");
    imported(times("first", 1).toString());

    for (String format : List.of("csv", "calls", "json")) {
      Outcome outcome = run("export", "--format", format, "--out", "/dev/full");
      assertThat(outcome.code()).as(format).isEqualTo(ExitCode.FAILED);
      assertThat(outcome.err()).as(format).contains("can't write /dev/full", "make room");
    }
    assertThat(Files.exists(Path.of("/dev/full"))).isTrue();
  }

  @Test
  void aFormatThatIsNotWrittenSaysWhatToDo() {
    Outcome parquet = run("export", "--format", "parquet");

    assertThat(parquet.code()).isEqualTo(ExitCode.USAGE);
    assertThat(parquet.err()).contains("Parquet isn't written", "csv", "COPY");
    Outcome xml = run("export", "--format", "xml");
    assertThat(xml.code()).isEqualTo(ExitCode.USAGE);
    assertThat(xml.err()).contains("'xml' is none of csv, calls and json");
  }

  @Test
  void nothingIsRemovedUnlessItIsSaid() throws IOException {
    imported(times("first", 1).toString(), times("second", 2).toString());

    assertThat(run("prune", "--keep", "1").out()).contains("1 runs would be removed", "--yes");
    assertThat(JSON.readTree(run("list", "--json").out())).hasSize(2);
    assertThat(run("prune", "--keep", "1", "--yes").out()).contains("1 runs removed");
    assertThat(JSON.readTree(run("list", "--json").out())).hasSize(1);
    assertThat(run("prune", "--older-than", "30").out()).contains("Nothing to remove");
    assertThat(run("prune").code()).isEqualTo(ExitCode.USAGE);
    assertThat(run("prune", "--keep", "-1").code()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void theUsualPlaceIsNoCache() {
    assertThat(HistoryPlace.usual(Map.of("STEELYARD_HISTORY", "jdbc:postgresql:x")))
        .isEqualTo("jdbc:postgresql:x");
    assertThat(HistoryPlace.usual(Map.of("XDG_DATA_HOME", "/data"))).isEqualTo("/data/steelyard");
    assertThat(HistoryPlace.usual(Map.of())).endsWith(".local/share/steelyard");
  }
}

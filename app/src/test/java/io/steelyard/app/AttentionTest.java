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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
  void variantsAreListed() {
    assertThat(attention("list").out()).contains("improved-dilated", "differential");
  }
}

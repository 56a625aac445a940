package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.Summary;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever the command line asks of attention: a clear refusal, or a right answer. */
@Tag("soak")
final class MutatedAttentionCommandsTest {
  private static final int CASES = 2_000;
  private static final String LETTERS = "0123456789/:=,-.KMabcdefghijklmnopqrstuvwxyz";

  private static final List<List<String>> COMMANDS =
      List.of(
          List.of("range", "custom", "--lengths", "64,200", "--variants", "flash,dilated"),
          List.of("range", "custom", "--lengths", "33", "--variants", "ring:ranks=3,flash"),
          List.of(
              "range", "custom", "--lengths", "150", "--variants", "longnet:segments=64,rates=2"),
          List.of(
              "range",
              "custom",
              "--lengths",
              "1K",
              "--variants",
              "block-sparse:pattern=random,density=0.1"),
          List.of("range", "custom", "--lengths", "99", "--variants", "flash", "--dtype", "bf16"),
          List.of("range", "custom", "--lengths", "40", "--variants", "dense", "--tier", "vector"),
          List.of(
              "range",
              "custom",
              "--lengths",
              "70",
              "--variants",
              "flex:rules=alibi",
              "--no-causal"),
          List.of("range", "custom", "--lengths", "50", "--variants", "sparse", "--batch", "2"));

  @TempDir private Path folder;

  private record Document(Summary summary, List<AttentionView.Row> rows) {}

  @Test
  void shouldRefuseOrAnswer() {
    SplittableRandom random = new SplittableRandom(5);
    TreeMap<Integer, Integer> codes = new TreeMap<>();
    for (int i = 0; i < CASES; i++) {
      codes.merge(outcome(mutated(random)), 1, Integer::sum);
    }
    assertThat(codes.keySet()).containsExactly(0, ExitCode.USAGE);
    assertThat(codes.get(0)).as("answers").isGreaterThan(CASES / 20);
  }

  /** The exit code of a command that answered rightly or refused clearly. */
  private int outcome(List<String> arguments) {
    List<String> all = new ArrayList<>(List.of("attention"));
    all.addAll(arguments);
    // What bounds a run isn't changed: it would only take longer.
    all.addAll(List.of("--runs", folder.resolve("runs").toString(), "--call-limit", "0.2s"));
    all.addAll(List.of("--forks", "1", "--trials", "1", "--budget", "1s", "--json"));
    CommandLineTest.Outcome outcome = CommandLineTest.run("", all.toArray(String[]::new));
    // A mutation may ask for help or the version.
    if (outcome.code() == 0 && outcome.out().startsWith("{")) {
      assertThat(Json.read(outcome.out(), Document.class).summary().parity())
          .as("%s", all)
          .isNotEmpty()
          .allMatch(Summary.Parity::pass);
    } else if (outcome.code() != 0) {
      assertThat(outcome.err()).as("%s", all).hasSizeGreaterThan(20).doesNotContain("\tat ");
    }
    return outcome.code();
  }

  private static List<String> mutated(SplittableRandom random) {
    List<String> arguments = new ArrayList<>(COMMANDS.get(random.nextInt(COMMANDS.size())));
    arguments.addAll(List.of("--heads", "2", "--dim", "16", "--threads", "2"));
    for (int mutations = 1 + random.nextInt(2); mutations > 0; mutations--) {
      int at = 1 + random.nextInt(arguments.size() - 1);
      switch (random.nextInt(8)) {
        case 0 -> arguments.remove(at);
        case 1 -> arguments.add(at, arguments.get(random.nextInt(arguments.size())));
        default -> arguments.set(at, mutated(arguments.get(at), random));
      }
    }
    return arguments;
  }

  private static String mutated(String argument, SplittableRandom random) {
    StringBuilder text = new StringBuilder(argument);
    int at = random.nextInt(text.length() + 1);
    String letter = LETTERS.charAt(random.nextInt(LETTERS.length())) + "";
    switch (random.nextInt(3)) {
      case 0 -> text.insert(at, letter);
      case 1 -> text.replace(Math.max(0, at - 1), at, letter);
      default -> text.delete(Math.max(0, at - 1), at);
    }
    return text.toString();
  }
}

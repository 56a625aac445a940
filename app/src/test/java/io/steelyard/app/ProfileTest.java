package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.app.CommandLineTest.Outcome;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.ProfileFile;
import io.steelyard.kernels.ProfiledKernels;
import io.steelyard.kernels.Tier;
import io.steelyard.reports.terminal.Format;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code --profile}, on a tiny model. */
final class ProfileTest {
  private static final String MODEL =
      "../models/src/test/resources/io/steelyard/models/tiny/llama-tied/llama-tied.gguf";

  @TempDir private Path folder;

  /** Runs a bench with {@code --profile}. */
  private Outcome run(String... arguments) {
    return CommandLineTest.run(
        "",
        Stream.of(
                Stream.of("bench"),
                Stream.of(arguments),
                Stream.of("--profile", "--runs", folder.toString()))
            .flatMap(words -> words)
            .toArray(String[]::new));
  }

  private Outcome bench(String... arguments) {
    Outcome outcome = run(arguments);
    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    return outcome;
  }

  private List<Path> profiles() throws IOException {
    try (Stream<Path> folders = Files.list(folder)) {
      return folders.sorted().toList();
    }
  }

  /** The one profile that was made: its files are named, and tell the same. */
  private List<ProfiledKernels.Line> lines(Outcome outcome) throws IOException {
    assertThat(profiles()).hasSize(1);
    Path profile = profiles().getFirst();
    assertThat(profile.getFileName().toString()).endsWith("-profile");
    for (String file : List.of("operators.tsv", "recording.jfr", "flame.svg")) {
      assertThat(outcome.out()).contains(profile.resolve(file).toString());
    }
    List<ProfiledKernels.Line> lines = ProfileFile.read(profile.resolve("operators.tsv"));
    String flames = Files.readString(profile.resolve("flame.svg"));
    assertThat(lines)
        .isNotEmpty()
        .allMatch(line -> flames.contains(line.operator()))
        .allMatch(line -> outcome.out().contains(line.kernel()));
    Map<String, Long> calls = new TreeMap<>();
    for (RecordedEvent event : RecordingFile.readAllEvents(profile.resolve("recording.jfr"))) {
      if (event.getEventType().getName().equals(ProfiledKernels.OperatorEvent.NAME)) {
        calls.merge(event.getString("operator"), 1L, Long::sum);
      }
    }
    assertThat(calls)
        .isEqualTo(
            lines.stream()
                .collect(
                    Collectors.groupingBy(
                        ProfiledKernels.Line::operator,
                        TreeMap::new,
                        Collectors.summingLong(ProfiledKernels.Line::calls))));
    return lines;
  }

  @Test
  void aWorkersProfileNamesEveryKernel() throws IOException {
    Outcome outcome = bench("prefill", "--prompt", "24", "--depth", "8", "--model", MODEL);

    assertThat(lines(outcome))
        .anyMatch(line -> line.operator().equals("matmul") && line.kernel().endsWith("24 tokens"))
        .as("the depth and the warm-up don't count")
        .noneMatch(line -> line.kernel().endsWith(" 8 tokens"));
    assertThat(outcome.out()).contains("pp24@d8", "matmul", "F32 ", "outside operators", "GMAC/s");
    assertThat(profiles().getFirst().resolve("flame.svg"))
        .content()
        .contains("pp24@d8", "matmul", "F32 ", "outside operators");
  }

  @Test
  void aBatchsProfileIsOfWhatIsTimed() throws IOException {
    Outcome outcome =
        bench(
            "batch",
            "-m",
            MODEL,
            "--parallel",
            "3,2",
            "--rounds",
            "6",
            "--gen",
            "4",
            "--prompt",
            "5");

    List<ProfiledKernels.Line> lines = lines(outcome);
    assertThat(outcome.out()).contains("bench batch: ", "12 calls in ", "outside operators");
    assertThat(lines)
        .as("a step of each number of sequences, but no prompt")
        .extracting(line -> line.kernel().replaceFirst(".*, ", ""))
        .containsOnly("2 tokens", "3 tokens");
    assertThat(lines)
        .filteredOn(line -> line.operator().equals("attention"))
        .as("two layers, four steps, six rounds")
        .extracting(ProfiledKernels.Line::calls)
        .containsOnly(2 * 4 * 6L);
  }

  @Test
  void aProductsProfileIsOfOneTier() throws IOException {
    Outcome outcome =
        bench(
            "matmul",
            "--type",
            "Q8_0,Q4_0",
            "--shape",
            "llama-135m",
            "--tokens",
            "2",
            "--millis",
            "1");

    List<ProfiledKernels.Line> lines = lines(outcome);
    assertThat(lines)
        .extracting(ProfiledKernels.Line::kernel)
        .containsExactlyInAnyOrder("Q8_0 1536×576, 2 tokens", "Q4_0 1536×576, 2 tokens");
    assertThat(outcome.out()).contains("bench matmul on ").containsPattern("share +MB +GB/s");
    for (ProfiledKernels.Line line : lines) {
      assertThat(outcome.out().lines())
          .filteredOn(row -> row.contains(line.kernel()))
          .singleElement()
          .asString()
          .contains(" % ", " " + Format.significant(line.bytes() / 1e6, 3) + " ");
    }
  }

  @Test
  void whatAProfileHasNoUseForIsRefused() throws IOException {
    assertThat(run("matmul", "--tier", "vector,vector").err())
        .contains("--profile takes one --tier, not 2");
    assertThat(run("batch", "-m", MODEL, "--json").err()).contains("leave out --json");
    assertThat(run("fusion", "--model", MODEL, "--quick").err()).contains("leave out --quick");
    assertThat(run("diffuse", "--budget", "9s").err()).contains("leave out --budget");
    assertThat(run("matmul", "--type", "Q4_K", "--shape", "llama-135m").err())
        .contains("llama-135m have 576 values, and a block of Q4_K 256");
    assertThat(run("batch", "-m", MODEL, "--prompt", "100000").err()).contains("was trained for");
    assertThat(run("decode", "-e", "steelyard:profile=x", "--model", MODEL).err())
        .contains("leave profile= out");
    assertThat(
            CommandLineTest.run("", "bench", "batch", "-m", MODEL, "--profile", "--runs", "").err())
        .contains("--runs is empty");
    assertThat(CommandLineTest.run("", "bench", "--profile", "batch", "-m", MODEL).err())
        .contains("--profile stands before 'batch'");
    Optional<Tier> elsewhere =
        Stream.of(Tier.AVX512, Tier.AMX).filter(tier -> !Kernels.available(tier)).findFirst();
    elsewhere.ifPresent(
        tier ->
            assertThat(run("batch", "-m", MODEL, "--tier", tier.label()).err())
                .contains("--tier " + tier.label() + " can't run here: "));
    assertThat(profiles()).isEmpty();
  }

  @Test
  void whatMeasuresEndsWithWhatStartedIt() throws Exception {
    Process bench =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "bench",
                "batch",
                "-m",
                MODEL,
                "--rounds",
                "10000")
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("output.txt").toFile())
            .start();
    try {
      Optional<ProcessHandle> measuring = Optional.empty();
      for (int wait = 0; measuring.isEmpty() && wait < 600 && bench.isAlive(); wait++) {
        Thread.sleep(50);
        measuring = bench.descendants().findFirst();
      }
      assertThat(measuring).as(Files.readString(folder.resolve("output.txt"))).isPresent();
      bench.destroyForcibly().waitFor();

      assertThat(measuring.get().onExit()).succeedsWithin(Duration.ofSeconds(30));
    } finally {
      bench.destroyForcibly();
    }
  }

  @Test
  @Tag("soak")
  void eachLabelHasAProfile() throws IOException {
    Outcome outcome = bench("fusion", "--model", MODEL, "--prompt", "8", "--gen", "2");

    assertThat(profiles()).hasSize(4);
    assertThat(outcome.out())
        .contains(
            "pp8 of ", "tg2 of ", "steelyard:label=fused", "steelyard:label=unfused,fused=off");
  }
}

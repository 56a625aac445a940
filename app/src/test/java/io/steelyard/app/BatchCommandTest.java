package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.app.CommandLineTest.Outcome;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Many prompts together, and how fast that is, on a tiny model. */
final class BatchCommandTest {
  private static final String MODEL =
      "../models/src/test/resources/io/steelyard/models/tiny/llama-tied/llama-tied.gguf";

  private static final JsonMapper JSON = JsonMapper.builder().build();

  @TempDir private Path folder;

  private Outcome generate(String content, String... options) throws IOException {
    Path file = Files.writeString(folder.resolve("prompts.txt"), content);
    List<String> common =
        List.of("generate", "--batch", file.toString(), "-m", MODEL, "-t", "2", "-n", "9");
    return CommandLineTest.run(
        "", Stream.concat(common.stream(), Stream.of(options)).toArray(String[]::new));
  }

  @Test
  void answersComeInTheFilesOrderAndAreThoseOfSinglePrompts() throws IOException {
    String content = "abc\n\n{\"prompt\": \"def ghi\", \"tokens\": 4}\nthe tide\nabc def\n";
    Outcome outcome = generate(content, "--parallel", "2", "--deterministic", "--json");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    List<JsonNode> lines = new ArrayList<>();
    outcome.out().lines().forEach(line -> lines.add(JSON.readTree(line)));
    assertThat(lines)
        .extracting(line -> line.get("prompt").asString())
        .containsExactly("abc", "def ghi", "the tide", "abc def");
    for (int i = 0; i < lines.size(); i++) {
      JsonNode line = lines.get(i);
      int most = i == 1 ? 4 : 9;
      assertThat(line.get("index").asInt()).isEqualTo(i);
      assertThat(line.get("tokens").asInt()).isBetween(1, most);
      Outcome single =
          CommandLineTest.run(
              "",
              "generate",
              "-m",
              MODEL,
              "-t",
              "2",
              "-n",
              Integer.toString(most),
              "--deterministic",
              line.get("prompt").asString());
      assertThat(single.out())
          .as(single.err())
          .isEqualTo(line.get("text").asString() + System.lineSeparator());
    }
    assertThat(outcome.err()).contains("[4 prompts, ").contains(" tok/s");
  }

  @Test
  void textAnswersFollowTheirPrompts() throws IOException {
    Outcome outcome = generate("abc\nabc def\n", "--share-prefixes", "--kv", "f32");
    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    assertThat(outcome.out()).startsWith("[1] abc\n").contains("\n\n[2] abc def\n");
  }

  /**
   * So many prompts that the interrupt comes long before the last. The vector tier is in another
   * process, which nobody should notice.
   */
  @ParameterizedTest
  @ValueSource(strings = {"reference", "vector"})
  void anInterruptKeepsWhatIsFinishedAndSaysHowMuchThatIs(String tier) throws Exception {
    int prompts = 100_000;
    Path file = Files.writeString(folder.resolve("prompts.txt"), "abc\n".repeat(prompts));
    Path errors = folder.resolve("errors.txt");
    List<String> command =
        List.of(
            // A shell's background jobs ignore interrupts, and so would what they start.
            "/usr/bin/env",
            "--default-signal=INT",
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName(),
            "generate",
            "--batch",
            file.toString(),
            "-m",
            MODEL,
            "-n",
            "100",
            "--json");
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
    builder.environment().put("STEELYARD_TIER", tier);
    Process process = builder.start();
    List<String> lines = new ArrayList<>();
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      lines.add(out.readLine());
      assertThat(lines.getFirst()).as(Files.readString(errors)).isNotNull();
      new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor();
      lines.addAll(out.lines().toList());
    } finally {
      if (!process.waitFor(1, TimeUnit.MINUTES)) {
        process.destroyForcibly();
      }
    }
    assertThat(process.exitValue()).isEqualTo(128 + 2);
    assertThat(lines).hasSizeLessThan(prompts).allMatch(line -> line.startsWith("{\"index\""));
    assertThat(Files.readString(errors))
        .contains("[stopped: %d of %d prompts finished".formatted(lines.size(), prompts))
        .doesNotContain("\tat ");
  }

  @Test
  void whatMakesNoSenseIsRefused() throws IOException {
    assertThat(generate("\n").err()).contains("holds no prompt: write one on each line");
    assertThat(generate("{\"text\": 1}\n").err())
        .contains("prompts.txt, line 1 is no JSON object with a prompt");
    assertThat(generate("{\"prompt\": \"a\", \"tokens\": 0}\n").err())
        .contains("line 1: tokens 0 is out of range");
    assertThat(generate("abc\n", "def").err()).contains("leave the prompt out");
    assertThat(generate("abc\n", "-e", "llamacpp").err())
        .contains("--batch runs with --engine steelyard");
    assertThat(generate("abc\n", "--speculate", "lookup").err()).contains("is for one prompt");
    assertThat(generate("abc\n", "--parallel", "0").err()).contains("--parallel 0 is out of range");
    assertThat(CommandLineTest.run("", "generate", "-m", MODEL).err())
        .contains("there is no PROMPT: give a text to go on from");
  }

  @Test
  void benchBatchMeasuresEachNumberOfSequences() {
    Outcome roofline = CommandLineTest.run("", "calibrate", "--roofline");
    assertThat(roofline.code()).as(roofline.err()).isEqualTo(ExitCode.FINE);
    Outcome outcome =
        CommandLineTest.run(
            "",
            "bench",
            "batch",
            "-m",
            MODEL,
            "--parallel",
            "1,3",
            "--rounds",
            "6",
            "--gen",
            "4",
            "--prompt",
            "5",
            "--deterministic",
            "--json");
    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    JsonNode found = JSON.readTree(outcome.out());
    assertThat(found.get("same_tokens").asBoolean()).isTrue();
    assertThat(found.get("rows")).hasSize(2);
    for (JsonNode row : found.get("rows")) {
      assertThat(row.get("rounds")).hasSize(6);
      assertThat(row.get("tokens_per_second").asDouble()).isPositive();
      assertThat(row.get("low").asDouble())
          .isLessThanOrEqualTo(row.get("tokens_per_second").asDouble());
      assertThat(row.get("of_limit").asDouble()).isPositive();
    }
    assertThat(found.get("rows").get(0).get("ratio").asDouble()).isEqualTo(1);
  }

  @Test
  void benchGenerateComparesWithAndWithoutTheCache() throws IOException {
    Outcome outcome =
        CommandLineTest.run(
            "",
            "bench",
            "generate",
            "-m",
            MODEL,
            "--prompt",
            "6",
            "--lengths",
            "9,3",
            "--rounds",
            "2",
            "--deterministic",
            "--out",
            folder.toString());
    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    assertThat(outcome.err()).contains("Both gave the same tokens.");
    JsonNode found = JSON.readTree(Files.readString(folder.resolve("cache.json")));
    assertThat(found.get("rows"))
        .extracting(row -> row.get("tokens").asInt())
        .containsExactly(3, 9);
    // Of 9 tokens 6 + … + 14 = 90 are processed without, 14 with the cache; attention adds to it.
    assertThat(found.get("rows").get(1).get("operations").asDouble()).isBetween(3.0, 6.5);
    assertThat(folder.resolve("cache.svg")).isNotEmptyFile();
  }
}

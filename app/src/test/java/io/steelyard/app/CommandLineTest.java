package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.models.FileTree;
import io.steelyard.models.synth.Shape;
import io.steelyard.models.synth.Synth;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a person meets at the command line: exit codes, and errors of one sentence. */
final class CommandLineTest {
  @TempDir private Path folder;
  private Path model;

  /** What a command did. */
  record Outcome(int code, String out, String err) {}

  @BeforeEach
  void copyModel() throws IOException {
    model = folder.resolve("tiny.gguf");
    try (InputStream in = CommandLineTest.class.getResourceAsStream("llama-tied.gguf")) {
      Files.copy(in, model);
    }
  }

  static Outcome run(String input, String... arguments) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    InputStream in = System.in;
    ByteArrayOutputStream seenOut = new ByteArrayOutputStream();
    ByteArrayOutputStream seenErr = new ByteArrayOutputStream();
    try {
      Locale.setDefault(Locale.ROOT);
      System.setOut(new PrintStream(seenOut, true, StandardCharsets.UTF_8));
      System.setErr(new PrintStream(seenErr, true, StandardCharsets.UTF_8));
      System.setIn(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)));
      int code = Main.run(arguments);
      return new Outcome(
          code, seenOut.toString(StandardCharsets.UTF_8), seenErr.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(out);
      System.setErr(err);
      System.setIn(in);
    }
  }

  static Stream<Arguments> nonsense() {
    return Stream.of(
        Arguments.of(List.of("compare", "--threads", "0"), "--threads 0 is out of range"),
        Arguments.of(List.of("compare", "--metrics", "speed"), "--metrics speed is unknown"),
        Arguments.of(List.of("compare", "-e", "lamacpp"), "llamacpp"),
        Arguments.of(List.of("compare", "-e", "steelyard:threads=abc"), "threads=abc is not a"),
        Arguments.of(List.of("compare", "-e", "steelyard:threads=0"), "threads 0 is out of range"),
        Arguments.of(List.of("compare", "-e", "steelyard:context=1.5"), "context=1.5 is not a"),
        Arguments.of(List.of("compare", "-e", "steelyard", "-e", "steelyard"), "label=again"),
        Arguments.of(
            List.of("compare", "-e", "steelyard", "--baseline", "x"), "none of the labels"),
        Arguments.of(List.of("compare", "--margin", "200%"), "no share"),
        Arguments.of(List.of("compare", "--budget", "soon"), "no duration"),
        Arguments.of(List.of("compare", "--prompt", "-3"), "--prompt -3 is out of range"),
        Arguments.of(List.of("compare", "-e", "steelyard", "--context", "8"), "too short"),
        Arguments.of(List.of("compare", "-e", "steelyard", "--depth", "9999"), "was trained for"),
        Arguments.of(List.of("compare", "--text", "no-such.txt"), "--text no-such.txt: "),
        Arguments.of(List.of("compare", "--text", "pom.xml", "--depth", "9"), "leave it out"),
        Arguments.of(List.of("bench", "prefill", "--text", "/dev/null"), "0 tokens are too few"),
        Arguments.of(List.of("compare", "--command", "true"), "--model is about engines"),
        Arguments.of(List.of("bench", "everything"), "bench everything is unknown"),
        Arguments.of(List.of("bench", "load", "--profile"), "bench load has no --profile"),
        Arguments.of(
            List.of("bench", "decode", "--profile", "-e", "null"), "it can't profile null"),
        Arguments.of(List.of("bench", "decode", "--profile", "--json"), "leave out --json"),
        Arguments.of(List.of("bench", "decode", "--profile", "-o", "csv"), "leave out --output"),
        Arguments.of(List.of("compare", "--no-such-flag"), "--no-such-flag"),
        Arguments.of(List.of("generate"), "PROMPT"),
        Arguments.of(List.of("generate", "--top-p", "7", "x"), "--top-p"),
        Arguments.of(List.of("generate", "--typical", "0", "x"), "--typical 0.0 is not above 0"),
        Arguments.of(
            List.of("generate", "--repeat-penalty", "0", "x"),
            "--repeat-penalty 0.0 is not above 0"),
        Arguments.of(List.of("generate", "--repeat-last", "-2", "x"), "-1 is the whole text"),
        Arguments.of(
            List.of("generate", "--frequency-penalty", "NaN", "x"),
            "--frequency-penalty NaN is no"),
        Arguments.of(
            List.of("generate", "--presence-penalty", "Infinity", "x"), "--presence-penalty Inf"),
        Arguments.of(List.of("generate", "--stop", "", "x"), "--stop: a stop string is empty"),
        Arguments.of(List.of("generate", "--stop-id", "1,320", "x"), "--stop-id 320 is outside"),
        Arguments.of(List.of("generate", "--speculate", "maybe", "x"), "neither lookup nor off"),
        Arguments.of(
            List.of("generate", "--speculate", "lookup", "--temperature", "0.7", "x"),
            "speculation is for greedy decoding"),
        Arguments.of(
            List.of("generate", "-e", "steelyard:speculate=lookup", "--temperature", "1", "x"),
            "speculation is for greedy decoding"),
        Arguments.of(
            List.of("generate", "-e", "steelyard:speculate=off", "--speculate", "lookup", "x"),
            "option 'speculate' is there twice"),
        Arguments.of(
            List.of("generate", "-e", "null", "--speculate", "lookup", "x"),
            "the null engine has no option 'speculate'"));
  }

  @ParameterizedTest
  @MethodSource("nonsense")
  void wrongUsageSaysWhatIsWrongAndExitsWithTwo(List<String> arguments, String said) {
    Outcome outcome = run("", withModel(arguments));

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains(said).doesNotContain("\tat ");
    assertThat(outcome.out()).isEmpty();
  }

  private String[] withModel(List<String> arguments) {
    boolean takesModel = !arguments.contains("--no-such-flag");
    return Stream.concat(
            arguments.stream(), takesModel ? Stream.of("--model", model.toString()) : Stream.of())
        .toArray(String[]::new);
  }

  static Stream<Arguments> wrongCommands() {
    return Stream.of(
        Arguments.of(List.of("--command", "true"), "nothing to be compared with"),
        Arguments.of(List.of("--command", "true", "--command", "true"), "two commands are called"),
        Arguments.of(List.of("--command", "true", "--command", " "), "is empty"),
        Arguments.of(
            List.of("--command", "echo {n}", "--parameter", "n=1,1"), "two commands are called"),
        Arguments.of(
            List.of("--command", "a", "--command", "b", "--gen", "3"), "--gen is about engines"),
        Arguments.of(
            List.of("--command", "a", "--command", "b", "--baseline", "c"), "none of the commands"),
        Arguments.of(
            List.of("--command", "a", "--command-name", "x", "--command-name", "y"),
            "2 names for 1 commands"),
        Arguments.of(
            List.of("--command", "a", "--command", "b", "--warm-up", "-1"), "--warm-up -1"));
  }

  @ParameterizedTest
  @MethodSource("wrongCommands")
  void wrongCommandsAreRefusedBeforeAnyRuns(List<String> arguments, String said) {
    Outcome outcome =
        run("", Stream.concat(Stream.of("compare"), arguments.stream()).toArray(String[]::new));

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains(said).doesNotContain("\tat ");
  }

  @Test
  void calibrateSaysWhatIsWrongBeforeItMeasures() {
    Outcome model = run("", "calibrate", "--model", "no-such.gguf");
    Outcome threads = run("", "calibrate", "--roofline", "--threads", "-1");

    assertThat(model.code()).isNotZero();
    assertThat(model.err()).contains("no-such.gguf").doesNotContain("\tat ");
    assertThat(model.out()).isEmpty();
    assertThat(threads.code()).isEqualTo(ExitCode.USAGE);
    assertThat(threads.err()).contains("--threads -1 is out of range");
  }

  @Test
  void aTruncatedModelIsRefusedInOneSentence() throws IOException {
    byte[] bytes = Files.readAllBytes(model);
    for (int length : new int[] {0, 3, 24, 1000, bytes.length / 2, bytes.length - 1}) {
      Path cut = Files.write(folder.resolve("cut.gguf"), Arrays.copyOf(bytes, length));

      Outcome outcome = run("", "generate", "--model", cut.toString(), "x");

      assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FAILED);
      assertThat(outcome.err()).contains("cut.gguf").doesNotContain("\tat ");
    }
  }

  @Test
  void aModelThatIsNotThereIsNamedWithTheWayOn() {
    Outcome outcome = run("", "generate", "--model", "no-such-model", "x");

    assertThat(outcome.code()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains("no-such-model").contains("smollm2-135m-instruct");
  }

  @Test
  void tokenizeTurnsJsonStringsIntoJsonArrays() {
    Outcome outcome = run("\"ab\"\n\"\"\n", "model", "tokenize", model.toString());

    assertThat(outcome.code()).as(outcome.err()).isZero();
    List<String> lines = outcome.out().lines().toList();
    assertThat(lines).hasSize(2);
    assertThat(lines.getFirst()).matches("\\[\\d+(,\\d+)*]");
    assertThat(lines.getLast()).isEqualTo("[]");
  }

  @Test
  void tokenizeSaysWhichLineIsNoJsonString() {
    Outcome outcome = run("\"fine\"\nnot json\n", "model", "tokenize", model.toString());
    Outcome blank = run("\"fine\"\n\n\"x\"\n", "model", "tokenize", model.toString());

    assertThat(outcome.code()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains("line 2");
    assertThat(blank.code()).as("an answer for each line, or none").isEqualTo(ExitCode.USAGE);
    assertThat(blank.err()).contains("line 2");
  }

  @Test
  void inspectShowsMetadataAndTypes() {
    Outcome outcome = run("", "model", "inspect", model.toString(), "--tensors");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.out())
        .contains("llama.block_count")
        .contains("F32")
        .contains("sha256 ")
        .containsPattern("feed-forward +\\d")
        .containsPattern("embedding +\\d")
        .containsPattern("KV cache, predicted: .* a token as f16")
        .contains("token_embd.weight");
  }

  @Test
  void inspectAsJsonHasBytesByPartAndOfTheCache() {
    Outcome outcome = run("", "model", "inspect", model.toString(), "--json");

    assertThat(outcome.out())
        .contains("\"bytes_by_part\"", "\"attention\"", "\"kv_bytes_a_token\"", "\"q8_0\"");
  }

  @Test
  void logitsAreFloatsOfEveryPosition() throws IOException {
    Path out = folder.resolve("logits.f32");

    Outcome outcome =
        run(
            "",
            "model",
            "logits",
            model.toString(),
            "--ids",
            "1,2,3",
            "--tier",
            "reference",
            "--out",
            out.toString());

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(Files.size(out)).isEqualTo(3 * 320 * 4L);
  }

  @Test
  void parityOfTheTiersHoldsLayerByLayer() {
    Outcome outcome =
        run(
            "",
            "parity",
            "steelyard:tier=reference",
            "steelyard:tier=vector",
            "--model",
            model.toString());

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.out())
        .contains("embedding")
        .contains("Every layer is within")
        .contains("pass");
  }

  @Test
  void resumeOfNothingSaysWhereItLooked() {
    Outcome outcome = run("", "resume", "nothing", "--runs", folder.toString());

    assertThat(outcome.code()).isEqualTo(ExitCode.FAILED);
    assertThat(outcome.err()).contains("there is no run 'nothing'");
  }

  @Test
  void everyCommandHasHelpWithAnExample() {
    assertHelp(Main.commandLine());
  }

  @Test
  void theHelpNamesEveryShapeOfRandomModels() {
    CommandLine synth =
        Main.commandLine().getSubcommands().get("model").getSubcommands().get("synth");

    assertThat(synth.getUsageMessage(CommandLine.Help.Ansi.OFF).replaceAll("\\s+", " "))
        .contains(String.join(", ", Synth.shapes().stream().map(Shape::name).toList()));
  }

  private static void assertHelp(CommandLine line) {
    String help = line.getUsageMessage(CommandLine.Help.Ansi.OFF);
    assertThat(help).contains("./steelyard").contains("--help").doesNotContain("Default: []");
    assertThat(help.replaceAll("\\s+", " "))
        .as("a default is said once")
        .doesNotContainPattern("\\(default: [^)]*\\) Default: ");
    line.getSubcommands().values().forEach(CommandLineTest::assertHelp);
  }

  @Test
  void generateStreamsTheTextOfTheModel() {
    Outcome outcome = run("", "generate", "--model", model.toString(), "-n", "5", "abc");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.err()).contains("prompt tokens");
  }

  private Outcome generated(String... options) {
    Stream<String> asked = Stream.of("generate", "--model", model.toString(), "-n", "40", "abc");
    return run("", Stream.concat(asked, Arrays.stream(options)).toArray(String[]::new));
  }

  @Test
  void aStopStringEndsTheTextBeforeIt() {
    String text = generated().out().stripTrailing();
    // From inside of one token into the next ones.
    String stop = text.substring(text.length() / 2, text.length() / 2 + 3);

    Outcome outcome = generated("--stop", "not there", "--stop", stop);

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.out()).isEqualTo(text.substring(0, text.indexOf(stop)) + "\n");
    assertThat(outcome.err()).contains("generated up to a stop string");
  }

  @Test
  void aStopIdEndsTheTextBeforeIt() {
    String text = generated().out();
    Outcome ids = run("\"{\"\n", "model", "tokenize", model.toString());
    assertThat(ids.out()).matches("\\[\\d+]\n");

    Outcome outcome = generated("--stop-id", ids.out().strip().replaceAll("[\\[\\]]", ""));

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(text).contains("{");
    assertThat(outcome.out()).isEqualTo(text.substring(0, text.indexOf('{')) + "\n");
  }

  @Test
  void penaltiesChangeTheGreedyTextWithAndWithoutSpeculation() {
    String[] penalised = {"--presence-penalty", "100", "--repeat-last", "-1"};

    Outcome plain = generated();
    Outcome without = generated(penalised);
    Outcome with =
        generated("--presence-penalty", "100", "--repeat-last", "-1", "--speculate", "lookup");

    assertThat(without.code()).as(without.err()).isZero();
    assertThat(without.out()).isNotEqualTo(plain.out()).isEqualTo(with.out());
  }

  @Test
  void speculationGivesTheSameTextAndTellsItsPasses() {
    String[] prompt = {"--model", model.toString(), "-n", "40", "abc abc abc abc abc"};
    String[] with =
        Stream.concat(Stream.of("generate", "--speculate", "lookup"), Arrays.stream(prompt))
            .toArray(String[]::new);
    String[] without =
        Stream.concat(Stream.of("generate"), Arrays.stream(prompt)).toArray(String[]::new);

    Outcome drafted = run("", with);
    Outcome plain = run("", without);

    assertThat(drafted.code()).as(drafted.err()).isZero();
    assertThat(drafted.out()).isEqualTo(plain.out());
    assertThat(drafted.err()).containsPattern("\\d+ generated in \\d+ passes");
    assertThat(plain.err()).contains("generated,");
  }

  private static JsonNode json(Outcome outcome) {
    return JsonMapper.builder().build().readTree(outcome.out());
  }

  @Test
  void parityPrintsOneJsonDocument() {
    Outcome outcome =
        run(
            "",
            "parity",
            "steelyard:tier=reference",
            "steelyard:tier=vector",
            "--model",
            model.toString(),
            "--json");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    JsonNode json = json(outcome);
    assertThat(json.get("pass").asBoolean()).isTrue();
    assertThat(json.get("layers").size()).isGreaterThan(2);
    assertThat(json.get("logits").get("kld_mean").asDouble()).isLessThan(1e-7);
    assertThat(json.get("failures")).isEmpty();
  }

  @Test
  void parityHoldsBothToTheBoundsOfTheLessPreciseWhicheverComesFirst() {
    for (String[] pair :
        new String[][] {
          {"steelyard:kv=f16", "steelyard:tier=reference"},
          {"steelyard:tier=reference", "steelyard:kv=f16"}
        }) {
      Outcome outcome = run("", "parity", pair[0], pair[1], "--model", model.toString());

      assertThat(outcome.code()).as(outcome.out() + outcome.err()).isZero();
      assertThat(outcome.out()).contains("bf16, f16");
    }
  }

  @Test
  void enginesAreListedAsJson() {
    JsonNode json = json(run("", "engines", "list", "--json"));

    assertThat(json).isNotEmpty();
    assertThat(json.valueStream().map(engine -> engine.get("name").asString()))
        .contains("steelyard", "llamacpp");
  }

  @Test
  void modelsAreListedAsJson() {
    JsonNode json = json(run("", "model", "list", "--json"));

    assertThat(json.valueStream().map(m -> m.get("name").asString()))
        .contains("smollm2-135m-instruct");
  }

  @Test
  void aCheckedEngineIsToldItsOptionsAsInARun() {
    Outcome outcome =
        run(
            "",
            "engines",
            "check",
            "steelyard:threads=2,context=96,kv=f32,flash=on,env.STEELYARD_TEST=1",
            "--model",
            model.toString(),
            "--json");

    assertThat(outcome.code()).as(outcome.out() + outcome.err()).isZero();
    assertThat(json(outcome).get("conforms").asBoolean()).isTrue();
    assertThat(json(outcome).get("checks").size()).isGreaterThan(10);
    assertThat(outcome.err()).doesNotContain("stderr");
  }

  @Test
  void anEngineThatFailsTheCheckLeavesWhatItWrote() throws IOException {
    Path program = Files.writeString(folder.resolve("broken.sh"), "#!/bin/sh\necho alas >&2\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();

    Outcome outcome =
        run("", "engines", "check", program.toString(), "--model", model.toString(), "--json");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FAILED);
    String place = outcome.err().lines().toList().getLast();
    assertThat(place).startsWith("What it wrote to stderr is in ");
    Path kept = Path.of(place.substring(place.indexOf('/')));
    assertThat(Files.readString(kept.resolve("stderr.txt"))).contains("alas");
    FileTree.delete(kept);
  }
}

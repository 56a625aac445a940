package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.app.CommandLineTest.Outcome;
import io.steelyard.lab.RunListener;
import io.steelyard.lab.parity.TextScore;
import io.steelyard.lab.parity.TextWindows;
import io.steelyard.lab.text.Texts;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class PerplexityCommandTest {
  private static final Path TINY =
      Path.of("..", "models", "src", "test", "resources", "io", "steelyard", "models", "tiny");
  private static final Path MODEL = TINY.resolve("llama-tied").resolve("llama-tied.gguf");
  private static final int VOCABULARY = 320;
  private static final int WINDOW = 33;
  private static final String TEXT =
      "The tide table for the north pier is pinned up by the door. It has been wrong since Easter, "
          + "and everyone who needs it knows by how much.";
  private static final JsonMapper JSON = JsonMapper.builder().build();

  @TempDir private Path folder;

  private static Outcome run(String... arguments) {
    return CommandLineTest.run("", arguments);
  }

  private Outcome perplexity(Path model, String... options) {
    return run(
        Stream.concat(Stream.of("model", "perplexity", model.toString()), Stream.of(options))
            .toArray(String[]::new));
  }

  private Path text(String content) throws IOException {
    return Files.writeString(folder.resolve("text.txt"), content);
  }

  /** Negative log-likelihoods of the scored tokens of a window, in double precision. */
  private static List<Double> surprises(FloatBuffer logits, int[] window) {
    List<Double> surprises = new ArrayList<>();
    for (int place = window.length / 2 + 1; place < window.length; place++) {
      int row = (place - 1) * VOCABULARY;
      double sum = 0;
      for (int id = 0; id < VOCABULARY; id++) {
        sum += Math.exp((double) logits.get(row + id) - logits.get(row + window[place]));
      }
      surprises.add(Math.log(sum));
    }
    return surprises;
  }

  private static double mean(List<Double> values) {
    return values.stream().mapToDouble(value -> value).average().orElseThrow();
  }

  private static double error(List<Double> values) {
    double mean = mean(values);
    double squares = values.stream().mapToDouble(x -> (x - mean) * (x - mean)).sum();
    return Math.sqrt(squares / (values.size() - 1) / values.size());
  }

  private static FloatBuffer floats(Path file) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
  }

  private List<Double> surprises(Path model, String text) throws IOException {
    Outcome tokens =
        CommandLineTest.run(
            JSON.writeValueAsString(text) + "\n", "model", "tokenize", model.toString());
    int[] ids = JSON.readValue(tokens.out(), int[].class);
    List<Double> surprises = new ArrayList<>();
    for (int at = 0; at + WINDOW <= ids.length; at += WINDOW) {
      int[] window = Arrays.copyOfRange(ids, at, at + WINDOW);
      Path logits = folder.resolve("logits.f32");
      String list = Arrays.toString(window).replaceAll("[\\[\\] ]", "");
      Outcome outcome =
          run(
              "model",
              "logits",
              model.toString(),
              "--ids",
              list,
              "--tier",
              "reference",
              "--out",
              logits.toString());
      assertThat(outcome.code()).as(outcome.err()).isZero();
      surprises.addAll(surprises(floats(logits), window));
    }
    assertThat(surprises.size()).isGreaterThanOrEqualTo(32);
    return surprises;
  }

  /** The logits are the same bits; sums of a few dozen doubles round by less than 1e-13. */
  @Test
  void scoresTheSecondHalfOfEachWindow() throws IOException {
    List<Double> expected = surprises(MODEL, TEXT);

    Outcome outcome =
        perplexity(
            MODEL,
            "--text",
            text(TEXT + "\n").toString(),
            "--context",
            Integer.toString(WINDOW),
            "-e",
            "steelyard:tier=reference",
            "--kv",
            "f32",
            "--json");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    JsonNode found = JSON.readTree(outcome.out());
    double perplexity = Math.exp(mean(expected));
    assertThat(found.get("tokens").asInt()).isEqualTo(expected.size());
    assertThat(found.get("windows").asInt()).isEqualTo(expected.size() / (WINDOW / 2));
    assertThat(found.get("perplexity").asDouble())
        .isCloseTo(perplexity, within(1e-11 * perplexity));
    assertThat(found.get("error").asDouble())
        .isCloseTo(perplexity * error(expected), within(1e-9 * perplexity));
    assertThat(found.get("against").isNull()).isTrue();
  }

  @Test
  void againstAnotherModelTheErrorsAreThoseOfDifferences() throws IOException {
    Path other = TINY.resolve("llama").resolve("llama.gguf");
    List<Double> own = surprises(MODEL, TEXT);
    List<Double> base = surprises(other, TEXT);
    List<Double> surplus = new ArrayList<>();
    for (int i = 0; i < own.size(); i++) {
      surplus.add(own.get(i) - base.get(i));
    }

    Outcome outcome =
        perplexity(
            MODEL,
            "--against",
            other.toString(),
            "--text",
            text(TEXT).toString(),
            "--context",
            Integer.toString(WINDOW),
            "-e",
            "steelyard:tier=reference",
            "--kv",
            "f32",
            "--json");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    JsonNode against = JSON.readTree(outcome.out()).get("against");
    double ratio = Math.exp(mean(surplus));
    assertThat(against.get("perplexity").asDouble())
        .isCloseTo(Math.exp(mean(base)), within(1e-11 * Math.exp(mean(base))));
    assertThat(against.get("ratio").asDouble()).isCloseTo(ratio, within(1e-11 * ratio));
    assertThat(against.get("ratio_error").asDouble())
        .isCloseTo(ratio * error(surplus), within(1e-9 * ratio));
    assertThat(against.get("kld_mean").asDouble()).isPositive();
    assertThat(against.get("top1").asDouble()).isBetween(0.0, 1.0);
  }

  /**
   * Against logits that another implementation computed in double precision. A logit of the
   * reference tier is off by at most 2e-5 there, so a log-likelihood by at most twice that.
   */
  @ParameterizedTest
  @ValueSource(strings = {"llama", "llama-tied", "mistral"})
  void agreesWithAnotherImplementationInDoublePrecision(String name) throws Exception {
    Path model = TINY.resolve(name);
    int[] ids =
        JSON.treeToValue(
            JSON.readTree(Files.readString(model.resolve("golden.json"))).get("ids"), int[].class);
    List<Double> expected = surprises(floats(model.resolve("logits.f32")), ids);

    TextScore score;
    try (AdHocWorker worker =
        AdHocWorker.start(
            StudyOptions.parse("steelyard:tier=reference"),
            Models.resolve(model.resolve(name + ".gguf").toString(), new Console()),
            1,
            ids.length,
            "f32")) {
      score = new TextWindows(List.of(ids)).score(worker.worker(), VOCABULARY, RunListener.NONE);
    }

    double perplexity = Math.exp(mean(expected));
    assertThat(score.perplexity()).isCloseTo(perplexity, within(4e-5 * perplexity));
    assertThat(score.error()).isCloseTo(perplexity * error(expected), within(1e-4 * perplexity));
  }

  @Test
  void saysHowFarItIsAndWhatItFound() throws IOException {
    Outcome alone = perplexity(MODEL, "--text", text(TEXT.repeat(2)).toString(), "--context", "40");
    Outcome itself =
        perplexity(
            MODEL,
            "--text",
            text(TEXT).toString(),
            "--context",
            "40",
            "--against",
            MODEL.toString());

    assertThat(alone.code()).as(alone.err()).isZero();
    assertThat(alone.out())
        .matches(
            "perplexity \\d+\\.\\d{4} ± \\d+\\.\\d{4} \\(\\d+ tokens scored, \\d+ windows of 40, .*\\)\n");
    assertThat(itself.out().lines().toList())
        .hasSize(3)
        .last()
        .asString()
        .startsWith("ratio 1.00000 ± 0.00000, mean KL 0")
        .contains("top-1 100");
  }

  @Test
  void steelyardsOwnTextNeedsNoFile() {
    Outcome outcome = perplexity(MODEL, "--context", "512", "--json");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    JsonNode found = JSON.readTree(outcome.out());
    assertThat(found.get("text").asString()).isEqualTo("steelyard");
    // Never more tokens than bytes, and more than one a five bytes with 48 merges.
    assertThat(found.get("windows").asInt()).isBetween(20, Texts.perplexity().length() / 256);
  }

  @Test
  void whatCanNotBeScoredIsRefusedWithTheWayOn() throws IOException {
    assertRefused("is empty", "--text", text(" \n\n").toString());
    assertRefused("hold no window of 512", "--text", text(TEXT).toString());
    assertRefused("a longer --text or a smaller --context", "--text", text(TEXT).toString());
    assertRefused("it does not exist", "--text", folder.resolve("none.txt").toString());
    assertRefused("--context 513 is more than the 512", "--context", "513");
    assertRefused("--context 4 is out of range", "--context", "4");
    Files.write(folder.resolve("latin.txt"), new byte[] {'n', (byte) 0xEF, 'v', 'e'});
    assertRefused("is no text in UTF-8", "--text", folder.resolve("latin.txt").toString());
    assertRefused("--kv f8 is none of", "--kv", "f8");
  }

  private void assertRefused(String said, String... options) {
    Outcome outcome = perplexity(MODEL, options);

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains(said).doesNotContain("\tat ");
    assertThat(outcome.out()).isEmpty();
  }

  @Test
  void aModelWithAnotherVocabularyIsRefused() throws IOException {
    // Strings of a GGUF file stand after their length: the tokens "a" and "b" change places.
    String length = "\1" + "\0".repeat(7);
    String bytes = Files.readString(MODEL, StandardCharsets.ISO_8859_1);
    String tokens = length + "a" + length + "b";
    assertThat(bytes).contains(tokens);
    Path other = folder.resolve("other.gguf");
    Files.writeString(
        other, bytes.replace(tokens, length + "b" + length + "a"), StandardCharsets.ISO_8859_1);

    assertRefused("give a model with the same vocabulary", "--against", other.toString());
  }
}

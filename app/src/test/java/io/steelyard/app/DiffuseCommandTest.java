package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.app.CommandLineTest.Outcome;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.models.Model;
import io.steelyard.models.Session;
import io.steelyard.models.diffusion.Diffusion;
import io.steelyard.models.diffusion.Diffusion.Algorithm;
import io.steelyard.models.diffusion.DiffusionDecoder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code generate --diffuse} on a tiny model that fills in masks. */
final class DiffuseCommandTest {
  /** Stands once among all modules' resources. */
  private static final Path MODEL =
      Path.of("../models/src/test/resources/io/steelyard/models/tiny/dream/dream.gguf");

  private static final int MASK = 307;

  @TempDir private Path folder;

  private static Outcome generate(Path model, String... options) {
    List<String> common =
        List.of("generate", "--diffuse", "--model", model.toString(), "-t", "2", "abc def");
    return CommandLineTest.run(
        "", Stream.concat(common.stream(), Stream.of(options)).toArray(String[]::new));
  }

  private static Outcome exact(String... options) {
    List<String> common =
        List.of("-e", "steelyard:tier=reference", "--kv", "f32", "-n", "12", "--steps", "6");
    return generate(
        MODEL, Stream.concat(common.stream(), Stream.of(options)).toArray(String[]::new));
  }

  private static String expected(Diffusion diffusion) {
    try (Kernels kernels = Kernels.of(Tier.REFERENCE, 2);
        Model model = Model.load(MODEL, kernels);
        Session session = model.newSession(64, DataType.F32)) {
      int[] prompt = model.tokenizer().encode("abc def", false);
      int[] ids =
          new DiffusionDecoder(session, MASK)
              .generate(prompt, diffusion, DiffusionDecoder.Listener.NONE);
      return new SettlingText(model, MASK, prompt.length).answer(ids) + System.lineSeparator();
    }
  }

  @Test
  void printsTheTextOnceItHasSettled() {
    Outcome outcome = exact();

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    assertThat(outcome.out()).isEqualTo(expected(Diffusion.greedy(12, 6, Algorithm.ENTROPY)));
    assertThat(outcome.err())
        .contains(" prompt tokens, 12 generated")
        .contains("in 6 steps, 2.00 tokens a forward, ")
        .contains(" tok/s]");
  }

  @Test
  void drawsAsItIsTold() {
    Outcome outcome =
        exact(
            "--algorithm",
            "topk_margin",
            "--alg-temp",
            "0.5",
            "--temperature",
            "1.5",
            "--top-p",
            "0.75",
            "--top-k",
            "50",
            "--seed",
            "9",
            "--mask-id",
            "307");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    assertThat(outcome.out())
        .isEqualTo(expected(new Diffusion(12, 6, Algorithm.TOPK_MARGIN, 1.5, 0.75, 50, 0.5, 9)));
  }

  @Test
  void fillsInBlocksByConfidence() {
    Outcome outcome =
        generate(
            MODEL, "-n", "12", "--block", "4", "--cache", "dual", "--confidence-threshold", "0");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    assertThat(outcome.err()).contains("in 3 steps, 4.00 tokens a forward");
  }

  @Test
  void aModelThatSeesOneDirectionIsRefused() throws IOException {
    Path causal = folder.resolve("causal.gguf");
    try (InputStream in = CommandLineTest.class.getResourceAsStream("llama-tied.gguf")) {
      Files.copy(in, causal);
    }

    Outcome outcome = generate(causal, "-n", "4");

    assertThat(outcome.code()).isEqualTo(ExitCode.FAILED);
    assertThat(outcome.err()).contains("diffusion needs one that is trained to fill in masks");
    assertThat(outcome.out()).isEmpty();
  }

  static Stream<Arguments> nonsense() {
    return Stream.of(
        Arguments.of(List.of("--speculate", "lookup"), "--speculate is for models that generate"),
        Arguments.of(List.of("--stop", "x"), "--stop is for models that generate token by token"),
        Arguments.of(List.of("--min-p", "0.1"), "--min-p is for models that generate"),
        Arguments.of(List.of("-e", "llamacpp"), "--diffuse runs with --engine steelyard"),
        Arguments.of(List.of("-e", "steelyard:tier=fast"), "tier must be reference|"),
        Arguments.of(List.of("--steps", "0"), "--steps 0 is out of range"),
        Arguments.of(List.of("--alg-temp", "-1"), "order -1.0 must be 0 or more"),
        Arguments.of(List.of("--algorithm", "best"), "--algorithm"),
        Arguments.of(List.of("--mask-id", "320"), "320 is outside the vocabulary of 320"),
        Arguments.of(List.of("--block", "0"), "a block of 0 tokens holds none"),
        Arguments.of(List.of("--confidence-threshold", "2"), "threshold 2.0 must be 0 to 1"),
        Arguments.of(
            List.of("--confidence-threshold", "0.9", "--algorithm", "entropy"),
            "take maskgit_plus or topk_margin"),
        Arguments.of(
            List.of("--confidence-threshold", "0.9", "--steps", "4"), "takes the place of --steps"),
        Arguments.of(List.of("--kv", "q8_0"), "--kv q8_0 needs heads of a multiple of 32"));
  }

  @ParameterizedTest
  @MethodSource("nonsense")
  void wrongUsageSaysWhatIsWrongAndExitsWithTwo(List<String> options, String said) {
    Outcome outcome = generate(MODEL, options.toArray(String[]::new));

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains(said).doesNotContain("\tat ");
    assertThat(outcome.out()).isEmpty();
  }

  @Test
  void itsOptionsNeedIt() {
    Outcome outcome =
        CommandLineTest.run("", "generate", "--model", MODEL.toString(), "--steps", "4", "abc");

    assertThat(outcome.code()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains("--diffuse");
  }
}

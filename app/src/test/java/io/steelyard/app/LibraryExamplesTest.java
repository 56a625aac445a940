package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.models.Model;
import io.steelyard.models.Session;
import io.steelyard.models.sampling.Sampler;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of {@code docs/library.md}, each started as its readers start it. */
class LibraryExamplesTest {
  private static final String PROMPT = "we weigh";
  private static final String ERRORS = "errors";
  private static final String ARCHITECTURE = System.getProperty("os.arch");

  @TempDir private Path folder;

  private Path model;

  @BeforeEach
  void copyModel() throws IOException {
    model = folder.resolve("model.gguf");
    try (InputStream in = LibraryExamplesTest.class.getResourceAsStream("llama-tied.gguf")) {
      Files.copy(in, model);
    }
  }

  private String run(String name, String... arguments) throws Exception {
    return run(List.of(), name, arguments);
  }

  private String run(List<String> flags, String name, String... arguments) throws Exception {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(flags);
    line.add("--enable-native-access=ALL-UNNAMED");
    line.addAll(List.of("-cp", System.getProperty("java.class.path")));
    line.add(Path.of("..", "docs", "examples", "library", name + ".java").toString());
    line.add(model.toString());
    line.addAll(List.of(arguments));
    Path errors = folder.resolve(ERRORS);
    Process process = new ProcessBuilder(line).redirectError(errors.toFile()).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(Files.readString(errors)).isZero();
    return out;
  }

  /** What an example logs that is told of another system than this one. */
  private String logged(String... flags) throws Exception {
    List<String> line = new ArrayList<>(List.of("-Dos.name=FreeBSD"));
    line.addAll(List.of(flags));
    run(line, "NextTokens", PROMPT);
    return Files.readString(folder.resolve(ERRORS));
  }

  @Test
  void theLogSaysWhichTierServesWhereNoMachineCodeRuns() throws Exception {
    assertThat(logged())
        .containsOnlyOnce("this is FreeBSD on " + ARCHITECTURE + "): the reference tier serves")
        .contains(Kernels.VECTOR_FLAG);
    assertThat(logged(Kernels.VECTOR_FLAG))
        .containsOnlyOnce("this is FreeBSD on " + ARCHITECTURE + "): the vector tier serves");
  }

  @Test
  void goesOnWithATextAsTheSessionDoesStepByStep() throws Exception {
    String expected;
    try (Kernels kernels = Kernels.of(Kernels.best(), 2);
        Model loaded = Model.load(model, kernels);
        Session session = loaded.newSession(512, DataType.F16)) {
      int[] ids = loaded.tokenizer().encode(PROMPT, true);
      List<Integer> chosen = new ArrayList<>();
      int id = Sampler.argmax(session.forward(ids, 0, ids.length));
      while (chosen.size() < 32 && !loaded.tokenizer().endOfGeneration().contains(id)) {
        chosen.add(id);
        id = Sampler.argmax(session.step(id));
      }
      expected = loaded.tokenizer().decode(chosen.stream().mapToInt(Integer::intValue).toArray());
    }

    assertThat(run("Continue", PROMPT)).isEqualTo(expected + System.lineSeparator());
  }

  @Test
  void goesOnWithSeveralTextsTogether() throws Exception {
    List<String> texts = run("Together", PROMPT, "abc", PROMPT).lines().toList();

    assertThat(texts).hasSize(3);
    assertThat(texts.get(1)).startsWith("abc");
    assertThat(texts.get(0)).startsWith(PROMPT).isEqualTo(texts.get(2)).isNotEqualTo(PROMPT);
  }

  @Test
  void tellsTheMostLikelyTokensFirst() throws Exception {
    List<String> lines = run("NextTokens", PROMPT).lines().toList();

    assertThat(lines).hasSize(5);
    double[] logits =
        lines.stream().mapToDouble(l -> Double.parseDouble(l.strip().split(" ", 2)[0])).toArray();
    double[] falling = Arrays.stream(logits).map(l -> -l).sorted().map(l -> -l).toArray();
    assertThat(logits).isEqualTo(falling);
  }

  @Test
  void aTextIsMostLikeItself() throws Exception {
    assertThat(Double.parseDouble(run("Similar", PROMPT, PROMPT))).isEqualTo(1);
    assertThat(Double.parseDouble(run("Similar", PROMPT, "something else"))).isLessThan(1);
  }
}

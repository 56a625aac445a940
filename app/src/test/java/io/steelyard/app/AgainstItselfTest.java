package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.Summary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** An engine against itself is never faster or slower: real runs on the default model. */
@Tag("soak")
final class AgainstItselfTest {
  private static final Path LAUNCHER = Path.of("..", "steelyard").toAbsolutePath().normalize();

  @TempDir private Path folder;

  @RepeatedTest(20)
  void anEngineAgainstItselfIsNeitherFasterNorSlower() throws Exception {
    String model = System.getenv("STEELYARD_TEST_MODEL");
    assumeTrue(
        model != null && Files.exists(Path.of(model)),
        "needs the default model: set STEELYARD_TEST_MODEL to what './steelyard model pull' prints");
    Path out = folder.resolve("summary.json");
    Process process =
        new ProcessBuilder(
                LAUNCHER.toString(),
                "compare",
                "--engine",
                "steelyard",
                "--engine",
                "steelyard:label=again",
                "--quick",
                "--json")
            .directory(folder.toFile())
            .redirectOutput(out.toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();

    assertThat(process.waitFor()).isZero();
    List<Summary.Comparison> comparisons =
        Json.read(Files.readString(out), Summary.class).comparisons();
    assertThat(comparisons).hasSize(5);
    assertThat(comparisons)
        .extracting(Summary.Comparison::verdict)
        .allMatch(verdict -> verdict.equals("equivalent") || verdict.equals("inconclusive"));
  }
}

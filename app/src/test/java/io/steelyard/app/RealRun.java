package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.Summary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code ./steelyard compare} on the default model, as a person runs it. */
final class RealRun {
  private static final Path LAUNCHER = Path.of("..", "steelyard").toAbsolutePath().normalize();

  private RealRun() {}

  /** Runs a comparison in a folder and gives its ratios. */
  static List<Summary.Comparison> compare(Path folder, String... arguments)
      throws IOException, InterruptedException {
    String model = System.getenv("STEELYARD_TEST_MODEL");
    assumeTrue(
        model != null && Files.exists(Path.of(model)),
        "needs the default model: set STEELYARD_TEST_MODEL to what './steelyard model pull' prints");
    List<String> command = new ArrayList<>(List.of(LAUNCHER.toString(), "compare", "--json"));
    command.addAll(List.of(arguments));
    Path out = folder.resolve("summary.json");
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectOutput(out.toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();

    assertThat(process.waitFor()).isZero();
    return Json.read(Files.readString(out), Summary.class).comparisons();
  }
}

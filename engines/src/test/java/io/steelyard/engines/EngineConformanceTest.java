package io.steelyard.engines;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.lab.worker.Conformance;
import io.steelyard.lab.worker.Conformance.Check;
import io.steelyard.lab.worker.Conformance.State;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.lab.worker.Timeouts;
import io.steelyard.lab.worker.WorkerCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Engines that need no real model pass the check that any engine can be put through. */
class EngineConformanceTest {
  private static final Path DOCS = Path.of("..", "docs");
  private static final Path EXAMPLE = DOCS.resolve("examples/engine.py");

  @TempDir private Path folder;

  @BeforeEach
  void needsLinux() {
    assumeTrue(
        System.getProperty("os.name").equals("Linux"), "not applicable here: workers need Linux");
  }

  private List<Check> check(WorkerCommand command, String text) throws IOException {
    return Conformance.check(
        command, EngineSpec.parse(text), Optional.empty(), folder, Timeouts.DEFAULT, check -> {});
  }

  private List<Check> checkBuiltIn(String name) throws IOException, EngineException {
    return check(EngineRegistry.of(folder).command(EngineSpec.parse(name)), name);
  }

  @Test
  void theNullEnginePassesAllButLayers() throws Exception {
    List<Check> checks = checkBuiltIn("null");
    assertThat(checks).noneMatch(check -> check.state() == State.FAILED);
    assertThat(checks)
        .filteredOn(check -> check.state() == State.SKIPPED)
        .extracting(Check::name)
        .containsExactly("gives finite outputs of every layer");
  }

  @Test
  void theSentinelPassesWhatNeedsNoModel() throws Exception {
    List<Check> checks = checkBuiltIn("sentinel");
    assertThat(checks).noneMatch(check -> check.state() == State.FAILED);
    assertThat(checks)
        .filteredOn(check -> check.state() == State.SKIPPED)
        .extracting(Check::name)
        .containsExactly("loads a model", "serves a model");
  }

  @Test
  void theExampleOfTheDocumentationPasses() throws Exception {
    WorkerCommand python =
        new WorkerCommand("bigram", List.of(python(), EXAMPLE.toString()), Map.of(), "");
    List<Check> checks = check(python, "bigram");
    assertThat(checks).noneMatch(check -> check.state() == State.FAILED);
    assertThat(checks)
        .filteredOn(check -> check.state() == State.SKIPPED)
        .extracting(Check::name)
        .containsExactly("a batch gives the same twice", "gives finite outputs of every layer");
  }

  @Test
  void theDocumentationShowsTheExampleAsItIs() throws IOException {
    String example = Files.readString(EXAMPLE);
    assertThat(example.lines()).hasSizeLessThanOrEqualTo(60);
    assertThat(Files.readString(DOCS.resolve("writing-an-engine.md")))
        .contains("```python\n" + example + "```\n");
  }

  private static String python() {
    Optional<String> found =
        Stream.of(Optional.ofNullable(System.getenv("PATH")).orElse("").split(":", -1))
            .map(path -> Path.of(path, "python3"))
            .filter(Files::isExecutable)
            .map(Path::toString)
            .findFirst();
    assumeTrue(found.isPresent(), "python3 is not installed");
    return found.get();
  }
}

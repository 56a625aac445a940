package io.steelyard.engines.steelyard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.lab.RunListener;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.EngineRegistry;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An engine that computes something else is found before anything is timed. */
final class PlantedFaultTest {
  /** Rounds nothing, and so is held to the closest bounds. */
  private static final Map<String, String> VECTOR = Map.of("tier", "vector");

  @TempDir private Path folder;

  static List<Arguments> faultsInAllFixtures() {
    List<Arguments> cases = new ArrayList<>();
    for (String model : List.of("llama", "llama-tied", "mistral")) {
      for (Fault fault : Fault.values()) {
        cases.add(Arguments.of(model, fault));
      }
    }
    return cases;
  }

  @ParameterizedTest
  @EnumSource(names = {"ROPE", "SCALE", "TOKEN"})
  void parityCatchesAFaultInAFloat32Model(Fault fault) throws Exception {
    catchInFixture("llama", fault);
  }

  @ParameterizedTest
  @MethodSource("faultsInAllFixtures")
  @Tag("soak")
  void parityCatchesAFaultInEveryFloat32Model(String model, Fault fault) throws Exception {
    catchInFixture(model, fault);
  }

  private void catchInFixture(String model, Fault fault) throws Exception {
    Summary.Parity parity = judge(fixture(model), "f32", fault);

    assertThat(parity.pass()).as(parity.toString()).isFalse();
  }

  @Test
  void parityPassesTheRightEngineOnAFloat32Model() throws Exception {
    passFixture("llama");
  }

  @ParameterizedTest
  @ValueSource(strings = {"llama-tied", "mistral"})
  @Tag("soak")
  void parityPassesTheRightEngineOnEveryFloat32Model(String model) throws Exception {
    passFixture(model);
  }

  private void passFixture(String model) throws Exception {
    Summary.Parity parity = judge(fixture(model), "f32", null);

    assertThat(parity.pass()).as(parity.toString()).isTrue();
  }

  /** A case takes half a minute. */
  @ParameterizedTest
  @EnumSource(Fault.class)
  @Tag("soak")
  void parityCatchesAFaultInTheDefaultModel(Fault fault) throws Exception {
    Summary.Parity parity = judge(defaultModel(), "f16", fault);

    assertThat(parity.pass()).as(parity.toString()).isFalse();
  }

  @Test
  @Tag("soak")
  void parityPassesTheRightEngineOnTheDefaultModel() throws Exception {
    Summary.Parity parity = judge(defaultModel(), "f16", null);

    assertThat(parity.pass()).as(parity.toString()).isTrue();
  }

  /** Runs a whole study and checks that a label that failed parity was never timed. */
  private Summary.Parity judge(Path model, String kv, Fault fault) throws Exception {
    Map<String, Study.Engine> engines = new LinkedHashMap<>();
    engines.put("steelyard", new Study.Engine("steelyard", "steelyard", VECTOR));
    engines.put(
        "subject",
        fault == null
            ? new Study.Engine("subject", "steelyard", VECTOR)
            : new Study.Engine(
                "faulty", "faulty", Map.of("tier", "vector", "fault", fault.name())));
    Study study =
        Study.builder("test")
            .model(
                new Study.Model(
                    model.getFileName().toString(), model.toString(), sha(model), false, 1))
            .engines(engines)
            .baseline("steelyard")
            .metrics(List.of("decode"))
            .shape(new Study.Shape(32, 4, 0, 1))
            .settings(new Study.Settings(2, 256, kv, true, ""))
            .design(new Study.Design(1, 1, 3, 1, 1, 0.02, 1))
            .build();
    try (RunDirectory run = RunDirectory.create(folder.resolve("runs"), "test", study)) {
      StudyRun.Outcome outcome =
          new StudyRun(run, EngineRegistry.of(folder), cache(), RunListener.NONE).run();
      Summary.Parity subject = outcome.summary().parity().get(1);
      if (!subject.pass()) {
        assertThat(outcome.summary().comparisons())
            .allMatch(comparison -> comparison.ratio() == null);
        assertThat(Files.exists(run.journalFile()) ? Journal.read(run.journalFile()) : List.of())
            .as("nothing is timed when the subject fails")
            .isEmpty();
      }
      return subject;
    }
  }

  /** Shared by all cases, so that the oracle works once a model. */
  private static Path cache() throws Exception {
    Path cache = Path.of("target", "planted-faults");
    return Files.createDirectories(cache).toAbsolutePath();
  }

  private Path fixture(String name) throws Exception {
    Path file = folder.resolve(name + ".gguf");
    try (InputStream in = PlantedFaultTest.class.getResourceAsStream(name + ".gguf")) {
      Files.copy(in, file);
    }
    return file;
  }

  private static Path defaultModel() {
    String path = System.getenv("STEELYARD_TEST_MODEL");
    assumeTrue(
        path != null && Files.exists(Path.of(path)),
        "needs the default model: set STEELYARD_TEST_MODEL to what './steelyard model pull' prints");
    return Path.of(path);
  }

  private static String sha(Path file) throws Exception {
    java.security.MessageDigest digest = java.security.MessageDigest.getInstance("SHA-256");
    digest.update(Files.readAllBytes(file));
    return java.util.HexFormat.of().formatHex(digest.digest());
  }
}

package io.steelyard.lab.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.lab.worker.Conformance.Check;
import io.steelyard.lab.worker.Conformance.State;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConformanceTest {
  @TempDir private Path folder;

  @BeforeEach
  void needsLinux() {
    assumeTrue(
        System.getProperty("os.name").equals("Linux"), "not applicable here: workers need Linux");
  }

  private List<Check> check(String text) throws IOException, EngineException {
    EngineSpec spec = EngineSpec.parse(text);
    List<Check> told = new ArrayList<>();
    List<Check> checks =
        Conformance.check(
            EngineRegistry.of(folder).command(spec),
            spec,
            Optional.empty(),
            folder,
            Timeouts.DEFAULT,
            told::add);
    assertThat(told).isEqualTo(checks);
    return checks;
  }

  @Test
  void aSoundEnginePassesEveryPoint() throws Exception {
    List<Check> checks = check("test");
    assertThat(checks).allMatch(check -> check.state() == State.PASSED).hasSizeGreaterThan(25);
    assertThat(Conformance.passed(checks)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "context,    loads a model",
    "vocabulary, gives finite logits of every position",
    "tokenize,   turns text into ids",
    "rows,       gives finite logits of every position",
    "nan,        gives finite logits of every position",
    "argmax,     prefill chooses the largest logit",
    "long,       prefill chooses the largest logit",
    "depth,      prefill at a depth gives what the whole gives",
    "length,     decode gives as many tokens as asked for",
    "times,      decode's times rise and lie inside the call",
    "chain,      decode chooses the largest logits",
    "repeats,    greedy decoding repeats itself",
    "margins,    gives margins when asked",
    "stream,     tells tokens as they come when asked",
    "reset,      forgets on reset",
    "forward,    a batch gives the same twice",
    "layers,     gives finite outputs of every layer"
  })
  void eachBrokenRuleIsFoundByItsPoint(String fault, String point) throws Exception {
    List<Check> checks = check("test:fault=" + fault);
    assertThat(checks)
        .filteredOn(check -> check.state() == State.FAILED)
        .extracting(Check::name)
        .contains(point);
    assertThat(Conformance.passed(checks)).isFalse();
  }

  @Test
  void anUnknownOptionFailsTheLoad() throws Exception {
    assertThat(check("test:speed=high"))
        .filteredOn(check -> check.name().equals("loads a model"))
        .extracting(Check::state)
        .containsExactly(State.FAILED);
  }

  @Test
  void aProgramThatSpeaksNoProtocolFailsAtOnce() throws Exception {
    WorkerCommand command =
        new WorkerCommand("cat", List.of("/bin/sh", "-c", "echo hi"), Map.of(), "");
    List<Check> checks =
        Conformance.check(
            command,
            EngineSpec.parse("cat"),
            Optional.empty(),
            folder,
            Timeouts.DEFAULT,
            check -> {});
    assertThat(checks).hasSize(1);
    assertThat(checks.getFirst().state()).isEqualTo(State.FAILED);
    assertThat(checks.getFirst().detail()).contains("not valid JSON").contains("The line: hi");
  }
}

package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.models.catalogue.ModelListing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class SuitePlanTest {
  private static final ModelListing SMALL = model("small:Q8_0", 150_000_000, true);
  private static final ModelListing MEDIUM = model("medium", 700_000_000, true);
  private static final ModelListing FAR = model("far", 100_000_000, false);

  @TempDir private Path folder;

  private static ModelListing model(String name, long bytes, boolean cached) {
    return new ModelListing(
        name,
        List.of("also-" + name),
        bytes,
        cached ? Optional.of(Path.of(name + ".gguf")) : Optional.empty(),
        false,
        "",
        true);
  }

  private static SuiteMachine machine(String llamaCpp, long context, int storedRuns) {
    return new SuiteMachine(
        "usual",
        llamaCpp,
        List.of("mine"),
        List.of("engine file x.json can't be used: it is empty"),
        context,
        storedRuns,
        List.of(model("usual", 1, true), SMALL, MEDIUM, FAR));
  }

  private static SuitePlan plan(SuitePlan.Length length, SuiteMachine machine) {
    return SuitePlan.of(new SuitePlan.Request(length, "default", Optional.of("g.yaml")), machine);
  }

  private static SuitePlan.Step step(SuitePlan plan, String name) {
    return plan.steps().stream()
        .filter(step -> step.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError(name + " is none of " + plan.steps()));
  }

  @ParameterizedTest
  @EnumSource
  void everyStepIsACommandLine(SuitePlan.Length length) {
    SuitePlan plan = plan(length, machine("", 8192, 2));

    assertThat(plan.steps()).filteredOn(SuitePlan.Step::runs).hasSizeGreaterThan(6);
    for (SuitePlan.Step step : plan.steps()) {
      if (step.runs()) {
        Main.commandLine().parseArgs(step.in(folder).toArray(String[]::new));
        assertThat(step.seconds()).as(step.name()).isPositive();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void theLengthsAreASweepOfPromptsThatTheModelHasRoomFor(SuitePlan.Length length)
      throws IOException {
    SuitePlan plan = plan(length, machine("", 320, 0));

    Path file = Files.writeString(folder.resolve("lengths.yaml"), plan.lengths());
    assertThat(SweepPlan.read(file).points())
        .extracting(point -> point.values().get("prompt"))
        .contains("32")
        .doesNotContain("512");
    assertThat(step(plan(length, machine("", 50, 0)), "lengths").obstacle())
        .isEqualTo("the model's context of 50 tokens has no room for them");
  }

  @Test
  void whatNeedsAMissingEngineIsListedWithTheReason() {
    SuitePlan plan = plan(SuitePlan.Length.FULL, machine("llama.cpp is not installed", 8192, 0));

    assertThat(step(plan, "engines").obstacle()).isEqualTo("llama.cpp is not installed");
    assertThat(step(plan, "parity-llamacpp").obstacle()).isEqualTo("llama.cpp is not installed");
    assertThat(step(plan, "engine").obstacle()).contains("x.json can't be used");
    assertThat(step(plan, "model-medium").arguments())
        .containsSequence("-e", "steelyard")
        .doesNotContain("llamacpp");
    assertThat(plan.lengths()).doesNotContain("llamacpp");
  }

  @Test
  void otherModelsAreThoseOfTheCacheThatAreSmallEnough() {
    SuitePlan quick = plan(SuitePlan.Length.QUICK, machine("", 8192, 0));
    SuitePlan full = plan(SuitePlan.Length.FULL, machine("", 8192, 0));

    assertThat(step(quick, "model-small-Q8_0").arguments()).contains("small:Q8_0", "--quick");
    assertThat(step(quick, "model-medium").obstacle())
        .isEqualTo(
            "its 700 MB are more than the 200 of this suite: ./steelyard compare --model medium");
    assertThat(step(full, "model-medium").runs()).isTrue();
    assertThat(step(quick, "model-far").obstacle()).contains("./steelyard model pull far");
    assertThat(quick.steps()).extracting(SuitePlan.Step::name).doesNotContain("model-usual");
  }

  @Test
  void theGateIsHeldToTheComparisonOfTheEngines() {
    SuitePlan plan = plan(SuitePlan.Length.CI, machine("", 8192, 2));

    assertThat(plan.steps())
        .filteredOn(step -> step.arguments().contains("--gate"))
        .extracting(SuitePlan.Step::name)
        .containsExactly("engines");
    assertThat(step(plan, "engines").arguments()).doesNotContain("--quick");
  }

  @Test
  void storedRunsAreNeededToHoldTheBuildAgainstThem() {
    assertThat(step(plan(SuitePlan.Length.CI, machine("", 8192, 2)), "regress").runs()).isTrue();
    assertThat(step(plan(SuitePlan.Length.CI, machine("", 8192, 1)), "regress").obstacle())
        .contains("at least 2 earlier runs", "the history has 1");
    assertThat(step(plan(SuitePlan.Length.QUICK, machine("", 8192, 2)), "regress").obstacle())
        .contains("would settle nothing");
  }
}

package io.steelyard.lab.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.steelyard.lab.RunException;
import io.steelyard.lab.TestData;
import io.steelyard.lab.study.Study;
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

class RunDirectoryTest {
  private static final Study STUDY = TestData.study(List.of("prefill"), "a", "b");

  @TempDir Path folder;
  private Path parent;

  @BeforeEach
  void name() {
    parent = folder.resolve("runs");
  }

  private RunDirectory create() {
    return RunDirectory.create(parent, "compare", STUDY);
  }

  @Test
  void aNewRunHoldsItsPlan() {
    try (RunDirectory run = create()) {
      assertThat(run.path()).hasParent(parent);
      assertThat(run.name()).matches("\\d{4}-\\d\\d-\\d\\d_\\d{6}-compare");
      assertThat(run.plan()).isEqualTo(STUDY);
      assertThat(run.path().resolve("stderr")).isDirectory();
    }
  }

  @Test
  void runsOfTheSameSecondGetDifferentNames() {
    try (RunDirectory first = create();
        RunDirectory second = create();
        RunDirectory third = create()) {
      assertThat(List.of(first.path(), second.path(), third.path())).doesNotHaveDuplicates();
    }
  }

  @Test
  void aTitleIsMadeFitForAFileName() {
    try (RunDirectory run = RunDirectory.create(parent, "bench ../x:y=ü", STUDY)) {
      assertThat(run.name()).endsWith("-bench-..-x-y-");
      assertThat(run.path()).hasParent(parent);
    }
  }

  @Test
  void aSecondOpenerIsRefusedUntilTheFirstIsDone() {
    String path;
    try (RunDirectory run = create()) {
      path = run.path().toString();
      assertThatExceptionOfType(RunException.class)
          .isThrownBy(() -> RunDirectory.open(parent, path))
          .withMessage("another process is at work on %s: wait for it or stop it", path);
    }
    try (RunDirectory again = RunDirectory.open(parent, path)) {
      assertThat(again.plan()).isEqualTo(STUDY);
    }
  }

  @Test
  void aRunIsFoundByNameAndByPath() {
    String name;
    Path path;
    try (RunDirectory run = create()) {
      name = run.name();
      path = run.path();
    }
    for (String asked : List.of(name, path.toString(), path + "/", path + "/stderr/..")) {
      try (RunDirectory run = RunDirectory.open(parent, asked)) {
        assertThat(run.name()).as(asked).isEqualTo(name);
        assertThat(run.plan()).isEqualTo(STUDY);
      }
    }
  }

  @Test
  void aRunThatIsNotThereIsNamed() {
    assertThatExceptionOfType(RunException.class)
        .isThrownBy(() -> RunDirectory.open(parent, "nothing"))
        .withMessage(
            "there is no run 'nothing' here or under %s: a run is a folder with a plan.json",
            parent);
  }

  @Test
  void aPlanThatCantBeReadIsNamed() throws IOException {
    try (RunDirectory run = create()) {
      for (String plan : List.of("", "null", "rubbish", "{\"command\":\"x\"}", "[]")) {
        Files.writeString(run.path().resolve("plan.json"), plan);

        assertThatExceptionOfType(RunException.class)
            .as(plan)
            .isThrownBy(run::plan)
            .withMessageStartingWith("can't read " + run.path().resolve("plan.json") + ": ");
      }
    }
  }

  @Test
  void aPlanHoldsTheLimitsThatWereKnown() {
    Study study = STUDY.toBuilder().limits(Optional.of(TestData.limits(10_000))).build();

    try (RunDirectory run = RunDirectory.create(parent, "compare", study)) {
      assertThat(run.plan()).isEqualTo(study);
      assertThat(run.plan().limits()).contains(TestData.limits(10_000));
    }
  }

  @Test
  void aPlanOfAnEarlierVersionHasNoLimits() throws IOException {
    try (RunDirectory run = create()) {
      Path plan = run.path().resolve("plan.json");
      String earlier = Files.readString(plan).replaceFirst(",\\s*\"limits\" : null", "");
      assertThat(earlier).doesNotContain("limits");
      Files.writeString(plan, earlier);

      assertThat(run.plan()).isEqualTo(STUDY);
      assertThat(run.plan().limits()).isEmpty();
    }
  }

  @Test
  void aFileIsReplacedAsAWholeAndNothingElseIsLeft() throws IOException {
    try (RunDirectory run = create()) {
      run.write("report.md", "a long first version");
      run.write("report.md", "short");

      assertThat(run.path().resolve("report.md")).hasContent("short");
      try (Stream<Path> files = Files.list(run.path())) {
        assertThat(files.map(file -> file.getFileName().toString()))
            .containsExactlyInAnyOrder("plan.json", "lock", "stderr", "report.md");
      }
    }
  }

  @Test
  void aReaderOfTheOldFileKeepsItsText() throws IOException {
    try (RunDirectory run = create()) {
      run.write("report.md", "old");
      try (var reader = Files.newBufferedReader(run.path().resolve("report.md"))) {
        run.write("report.md", "new");

        assertThat(reader.readLine()).isEqualTo("old");
      }
      assertThat(run.path().resolve("report.md")).hasContent("new");
    }
  }

  @Test
  void aParentThatIsNoFolderIsNamed() throws IOException {
    Files.writeString(parent, "a file");

    assertThatExceptionOfType(RunException.class)
        .isThrownBy(this::create)
        .withMessage(
            "can't make a run under %s (a file is in its place): make room there or choose another"
                + " folder with --runs",
            parent);
  }

  @Test
  void theEnvironmentIsWrittenAsJson() {
    try (RunDirectory run = create()) {
      run.writeEnvironment(Map.of("hardware", Map.of("cores", 2)));

      Map<?, ?> read = run.read("environment.json", Map.class);
      assertThat(read.get("hardware")).isEqualTo(Map.of("cores", 2));
    }
  }

  @Test
  void aCellsStderrLiesInTheRun() {
    try (RunDirectory run = create()) {
      assertThat(run.stderr("llamacpp:threads=2/pp512@d64"))
          .isEqualTo(run.path().resolve("stderr/llamacpp-threads-2-pp512-d64.log"));
      assertThat(run.stderr("../../x").getParent()).isEqualTo(run.path().resolve("stderr"));
    }
  }
}

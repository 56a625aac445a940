package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TitledRunsTest {
  @TempDir private Path folder;

  private Path run(String name, String... files) throws IOException {
    Path run = Files.createDirectory(folder.resolve(name));
    for (String file : files) {
      Files.createFile(run.resolve(file));
    }
    return run;
  }

  @Test
  void theNewestRunOfATitleIsTaken() throws IOException {
    run("2026-01-31_120000-engines", "plan.json", "summary.json");
    Path newest = run("2026-01-31_130000-engines", "plan.json");
    run("2026-01-31_140000-engines");
    TitledRuns runs = new TitledRuns(folder);

    assertThat(runs.begun("engines")).contains(newest);
    assertThat(runs.finished("engines")).isEmpty();
  }

  @Test
  void aTitleThatEndsAsAnotherIsNotTakenForIt() throws IOException {
    run("2026-01-31_120000-other-engines", "plan.json", "summary.json");

    assertThat(new TitledRuns(folder).begun("engines")).isEmpty();
    assertThat(new TitledRuns(folder).finished("other-engines")).isPresent();
  }

  @Test
  void whereNothingWasBegunThereIsNone() throws IOException {
    assertThat(new TitledRuns(folder.resolve("none")).begun("engines")).isEmpty();
  }
}

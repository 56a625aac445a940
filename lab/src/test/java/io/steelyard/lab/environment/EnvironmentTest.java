package io.steelyard.lab.environment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.lab.record.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EnvironmentTest {
  @TempDir Path folder;

  @Test
  void theHardwarePartIsTheSameFromReadingToReading() {
    assertThat(Environment.read(folder).get("hardware"))
        .isEqualTo(Environment.read(folder).get("hardware"));
  }

  @Test
  void theFingerprintNamesTheHardware() {
    assertThat(Environment.fingerprint())
        .matches("[0-9a-f]{64}")
        .isEqualTo(Environment.fingerprint());
  }

  @Test
  void whatIsKnownIsThereAndNothingIsEmpty() {
    Map<String, Object> environment = Environment.read(folder);

    assertThat(environment).containsOnlyKeys("hardware", "system", "runtime", "repository");
    assertThat(part(environment, "hardware"))
        .containsEntry("cores", Runtime.getRuntime().availableProcessors())
        .containsEntry("architecture", System.getProperty("os.arch"));
    assertThat(part(environment, "runtime").get("jdk").toString())
        .contains(Runtime.version().toString());
    environment.keySet().forEach(key -> assertThat(part(environment, key)).doesNotContainValue(""));
  }

  @Test
  void itCanBeWrittenAndReadBack() {
    Map<String, Object> environment = Environment.read(folder);

    Map<?, ?> read = Json.read(Json.pretty(environment), Map.class);

    assertThat(read.equals(environment)).as("%s", read).isTrue();
  }

  @Test
  void onLinuxTheProcessorAndTheAffinityAreRead() {
    assumeTrue(
        Files.exists(Path.of("/proc/cpuinfo")), "not applicable here: there is no /proc/cpuinfo");

    assertThat(Environment.affinity()).matches("\\d+([-,]\\d+)*");
    assertThat(part(Environment.read(folder), "hardware").get("memory").toString()).endsWith("kB");
  }

  @Test
  void aFolderThatIsNoRepositoryHasNoCommit() {
    assertThat(part(Environment.read(folder), "repository")).isEmpty();
  }

  @Test
  void aRepositorysCommitAndWhetherItIsDirtyAreRead() throws Exception {
    assumeTrue(git("init", "-q") == 0, "git is not installed");
    git("config", "user.email", "test@example.org");
    git("config", "user.name", "test");
    git("config", "commit.gpgsign", "false");
    Files.writeString(folder.resolve("file"), "one");
    git("add", "file");
    git("commit", "-q", "-m", "first");

    assertThat(part(Environment.read(folder), "repository"))
        .containsEntry("dirty", false)
        .hasEntrySatisfying(
            "commit", commit -> assertThat((String) commit).matches("[0-9a-f]{40}"));

    Files.writeString(folder.resolve("file"), "two");

    assertThat(part(Environment.read(folder), "repository")).containsEntry("dirty", true);
  }

  private int git(String... arguments) throws Exception {
    var command = new ArrayList<>(List.of("git", "-C", folder.toString()));
    command.addAll(List.of(arguments));
    try {
      return new ProcessBuilder(command)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException e) {
      return -1;
    }
  }

  @SuppressWarnings("unchecked") // every part is made as such a map
  private static Map<String, Object> part(Map<String, Object> environment, String name) {
    return (Map<String, Object>) environment.get(name);
  }
}

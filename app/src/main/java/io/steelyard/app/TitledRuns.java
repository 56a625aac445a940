package io.steelyard.app;

import io.steelyard.lab.RunException;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.Summary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The runs of one folder, found by the titles that they were given: so a command that makes many of
 * them goes on with what an earlier call began.
 *
 * @param folder it need not exist
 */
record TitledRuns(Path folder) {
  private static final String SUMMARY = "summary.json";

  /** What stands before the title in a run directory's name. */
  private static final String STAMP = "\\d{4}-\\d{2}-\\d{2}_\\d{6}-";

  /** The newest run of this title that was begun. */
  Optional<Path> begun(String title) throws IOException {
    if (Files.notExists(folder)) {
      return Optional.empty();
    }
    Pattern name = Pattern.compile(STAMP + Pattern.quote(title));
    try (Stream<Path> runs = Files.list(folder)) {
      return runs.filter(run -> name.matcher(run.getFileName().toString()).matches())
          .filter(run -> Files.exists(run.resolve("plan.json")))
          .max(Path::compareTo);
    }
  }

  /** The newest run of this title, if it was measured to its end. */
  Optional<Path> finished(String title) throws IOException {
    return begun(title).filter(run -> Files.exists(run.resolve(SUMMARY)));
  }

  /**
   * What a finished run found.
   *
   * @throws RunException if its summary can't be read
   */
  static Summary summary(Path run) {
    try {
      return Json.read(Files.readString(run.resolve(SUMMARY)), Summary.class);
    } catch (IOException e) {
      throw new RunException("can't read %s: %s".formatted(run, RunException.reason(e)), e);
    }
  }
}

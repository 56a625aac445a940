package io.steelyard.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A folder for bulk data that goes with whoever made it: when closed, or when the process ends. */
public final class TemporaryFolder implements AutoCloseable {
  private final Path path;
  private final Thread atExit = new Thread(this::delete, "steelyard-clean-up");

  private TemporaryFolder(Path path) {
    this.path = path;
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /**
   * Makes one where temporary files go.
   *
   * @throws RunException if there is no room
   */
  public static TemporaryFolder make() {
    try {
      return new TemporaryFolder(Files.createTempDirectory("steelyard-"));
    } catch (IOException e) {
      throw new RunException(
          "can't make a temporary folder under "
              + System.getProperty("java.io.tmpdir")
              + " ("
              + RunException.reason(e)
              + "): make room there, or name another folder in TMPDIR",
          e);
    }
  }

  public Path path() {
    return path;
  }

  @Override
  public void close() {
    delete();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException _) {
      // The process is ending, and the hook runs.
    }
  }

  private void delete() {
    if (Files.notExists(path)) {
      return;
    }
    try (Stream<Path> paths = Files.walk(path)) {
      for (Path each : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    } catch (IOException _) {
      // Left for the system's own cleaning of temporary files.
    }
  }
}

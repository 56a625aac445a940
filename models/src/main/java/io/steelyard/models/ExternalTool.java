package io.steelyard.models;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Runs programs of the user's own, such as pip and npm, with their registries and credentials. */
public final class ExternalTool {
  private static final boolean WINDOWS = File.separatorChar == '\\';

  private ExternalTool() {}

  /** The program of this name that {@code PATH} leads to. */
  public static Optional<Path> find(String program, Map<String, String> environment) {
    return Stream.of(environment.getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .filter(directory -> !directory.isEmpty())
        .map(directory -> Path.of(directory, program + (WINDOWS ? ".exe" : "")))
        .filter(path -> Files.isRegularFile(path) && Files.isExecutable(path))
        .findFirst();
  }

  /**
   * Runs a program to its end, with nothing on its standard input. None of its processes outlives
   * the call, nor this JVM.
   *
   * @param directory where it runs
   * @param log gets what it writes
   * @return its exit code
   * @throws IOException if it can't be started or hasn't ended within the limit
   */
  public static int run(
      List<String> command,
      Path directory,
      Map<String, String> environment,
      Path log,
      Duration limit)
      throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder.environment().clear();
    builder.environment().putAll(environment);
    Process process = builder.start();
    Thread killer = new Thread(() -> kill(process));
    Runtime.getRuntime().addShutdownHook(killer);
    try {
      process.getOutputStream().close();
      if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
        throw new IOException(
            "%s didn't end within %,d s"
                .formatted(Path.of(command.getFirst()).getFileName(), limit.toSeconds()));
      }
      return process.exitValue();
    } finally {
      kill(process);
      removeHook(killer);
    }
  }

  /** Its own children too: they would hold its directory. */
  private static void kill(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  private static void removeHook(Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is going down and has run it.
    }
  }
}

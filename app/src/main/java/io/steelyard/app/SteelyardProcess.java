package io.steelyard.app;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A command of Steelyard in a process of its own, on the same Java with the same flags: no command
 * leaves anything behind in the memory or the threads of the next.
 */
final class SteelyardProcess {
  /** What a shell calls the end by SIGINT and by SIGTERM. */
  private static final List<Integer> STOPPED = List.of(130, 143);

  private SteelyardProcess() {}

  /**
   * Runs a command line to its end.
   *
   * @param out where its results go
   * @param log where its notes go; empty for this process's stderr
   * @return its exit code
   * @throws InterruptedException if it was stopped by a signal that asks a process to end
   */
  static int run(List<String> arguments, Path out, Optional<Path> log)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.addAll(arguments);
    Process process =
        new ProcessBuilder(command)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(out.toFile())
            .redirectError(log.map(file -> Redirect.to(file.toFile())).orElse(Redirect.INHERIT))
            .start();
    Thread stopper = new Thread(process::destroy);
    Runtime.getRuntime().addShutdownHook(stopper);
    int code;
    try {
      code = process.waitFor();
    } finally {
      process.destroy();
    }
    // In a shutdown hooks can't be removed any more, and need not be.
    if (STOPPED.contains(code)) {
      throw new InterruptedException();
    }
    Runtime.getRuntime().removeShutdownHook(stopper);
    return code;
  }
}

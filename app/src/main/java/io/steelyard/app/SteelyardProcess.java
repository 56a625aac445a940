package io.steelyard.app;

import io.steelyard.engines.steelyard.SteelyardProvider;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;

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
    Process process =
        builder(List.of(), arguments)
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

  /** Whether the engine needs the vector tier by these options, which this process hasn't. */
  static boolean lacksVectors(Map<String, String> options) {
    return SteelyardProvider.needsVectorModule(options) && !Kernels.available(Tier.VECTOR);
  }

  /**
   * Runs this process's command once more in its place, with the vector tier: it reads and writes
   * what this process would have.
   *
   * @return its exit code
   */
  static int withVectors(CommandSpec command) throws IOException, InterruptedException {
    List<String> arguments = command.root().commandLine().getParseResult().originalArgs();
    Process process = builder(List.of(Kernels.VECTOR_FLAG), arguments).inheritIO().start();
    // A signal that ends this process ends that one, which may have something to say before.
    Thread stopper =
        new Thread(
            () -> {
              process.destroy();
              process.onExit().join();
            });
    Runtime.getRuntime().addShutdownHook(stopper);
    return process.waitFor();
  }

  /** A process of this one's Java and flags, and more flags. */
  private static ProcessBuilder builder(List<String> flags, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(flags);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.addAll(arguments);
    return new ProcessBuilder(command);
  }
}

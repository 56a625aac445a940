package io.steelyard.app;

import io.steelyard.engines.steelyard.SteelyardProvider;
import io.steelyard.kernels.Tier;
import io.steelyard.lab.RunException;
import io.steelyard.models.ModelException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A virtual machine that measures parts of Steelyard's own engine, with the flags of its workers
 * and those that every tier needs. It prints a line for everything that it has measured.
 */
final class MeasuringProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader lines;
  private final Thread killer;

  private MeasuringProcess(Process process) {
    this.process = process;
    lines = process.inputReader(StandardCharsets.UTF_8);
    killer = new Thread(process::destroyForcibly);
    Runtime.getRuntime().addShutdownHook(killer);
  }

  /** Starts a class's {@code main}; what it says on stderr goes to this process's. */
  static MeasuringProcess start(Class<?> main, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xmx2g"));
    command.addAll(new SteelyardProvider().jvmFlags(Map.of("tier", Tier.VECTOR.label())));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(main.getName());
    command.addAll(arguments);
    return new MeasuringProcess(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /**
   * What such a {@code main} does: a fault of the model or of an option ends it with a sentence.
   */
  static void measure(Runnable measuring) {
    try {
      measuring.run();
    } catch (UsageException | ModelException e) {
      System.err.println("steelyard: " + e.getMessage());
      System.exit(ExitCode.USAGE);
    }
  }

  /**
   * The next line.
   *
   * @param what is being measured, for the message
   * @throws RunException if the process has ended
   */
  String next(String what) throws IOException, InterruptedException {
    String line = lines.readLine();
    if (line == null) {
      throw new RunException(
          "the measuring process ended with code %d at %s; what it says stands above"
              .formatted(process.waitFor(), what));
    }
    return line;
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    Runtime.getRuntime().removeShutdownHook(killer);
    lines.close();
  }
}

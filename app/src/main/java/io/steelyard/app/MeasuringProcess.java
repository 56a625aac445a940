package io.steelyard.app;

import io.steelyard.engines.steelyard.Profiler;
import io.steelyard.engines.steelyard.SteelyardProvider;
import io.steelyard.kernels.Tier;
import io.steelyard.lab.RunException;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.models.ModelException;
import io.steelyard.stats.WarmUp;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A virtual machine that measures parts of Steelyard's own engine, with the flags of its workers
 * and those that every tier needs. It prints a line for everything that it has measured.
 */
final class MeasuringProcess implements AutoCloseable {
  /** What a virtual machine says of itself whenever it may use vectors. */
  private static final String NO_NEWS = "incubator module";

  private static final int MOST_SAID = 40;

  private static final Duration LONGEST_WARM_UP = Duration.ofSeconds(10);

  private final Process process;
  private final BufferedReader lines;
  private final List<String> said = new ArrayList<>();
  private final Thread listener;
  private final Thread killer;

  private MeasuringProcess(Process process) {
    this.process = process;
    lines = process.inputReader(StandardCharsets.UTF_8);
    listener = Thread.ofPlatform().daemon().start(this::listen);
    killer = new Thread(process::destroyForcibly);
    Runtime.getRuntime().addShutdownHook(killer);
  }

  /** Starts a class's {@code main}. */
  static MeasuringProcess start(Class<?> main, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xmx2g"));
    command.addAll(new SteelyardProvider().jvmFlags(Map.of("tier", Tier.VECTOR.label())));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(main.getName());
    command.addAll(arguments);
    return new MeasuringProcess(new ProcessBuilder(command).start());
  }

  /** Takes in what the process says on stderr, which is told if it fails. */
  private void listen() {
    try (Stream<String> errors = process.errorReader(StandardCharsets.UTF_8).lines()) {
      errors
          .filter(line -> !line.contains(NO_NEWS))
          .forEach(
              line -> {
                if (said.size() < MOST_SAID) {
                  said.add(line);
                }
              });
    } catch (UncheckedIOException _) {
      // It was closed.
    }
  }

  /**
   * What such a {@code main} does: a fault of the model, of an option or of a full disk ends it
   * with a sentence, and it doesn't outlive the process that started it.
   */
  static void measure(Runnable measuring) {
    Thread.ofPlatform().daemon().start(MeasuringProcess::endWithParent);
    try {
      measuring.run();
    } catch (UsageException | ModelException e) {
      System.err.println(e.getMessage());
      System.exit(ExitCode.USAGE);
    } catch (UncheckedIOException e) {
      System.err.println(e.getMessage());
      System.exit(ExitCode.FAILED);
    }
  }

  /** Nothing is written to this process's input: it ends when the one at its other end does. */
  private static void endWithParent() {
    try {
      while (System.in.read() >= 0) {
        // It isn't for this process.
      }
    } catch (IOException _) {
      // As if it had ended.
    }
    Runtime.getRuntime().halt(ExitCode.FAILED);
  }

  /**
   * Repeats what is about to be measured until its times settle, as before a trial: until then the
   * compilers, whose threads take turns with the kernels', are a good part of them.
   */
  static void warmUp(Runnable measurement) {
    List<Double> times = new ArrayList<>();
    long end = System.nanoTime() + LONGEST_WARM_UP.toNanos();
    do {
      long start = System.nanoTime();
      measurement.run();
      times.add((double) System.nanoTime() - start);
    } while (!WarmUp.settled(times.stream().mapToDouble(d -> d).toArray())
        && System.nanoTime() < end);
  }

  /**
   * Begins a profile in such a {@code main}.
   *
   * @throws UsageException if nothing can be recorded
   */
  static void begin(Profiler profiler) {
    try {
      profiler.begin();
    } catch (EngineException e) {
      throw new UsageException(e.getMessage());
    }
  }

  /**
   * The next line.
   *
   * @param what is being measured, for the message
   * @throws RunException if the process has failed, with what it said
   * @throws UsageException if it was asked for what there isn't
   */
  String next(String what) throws IOException, InterruptedException {
    String line = lines.readLine();
    if (line == null) {
      throw failed(what, process.waitFor());
    }
    return line;
  }

  private RuntimeException failed(String what, int code) throws InterruptedException {
    listener.join();
    String words = String.join("\n", said);
    return code == ExitCode.USAGE
        ? new UsageException(words)
        : new RunException(
            "the measuring process ended with code %d at %s%s"
                .formatted(code, what, words.isEmpty() ? "" : ": " + words));
  }

  /**
   * Waits until the process, which has said all, has ended by itself.
   *
   * @throws RunException if it failed, with what it said
   * @throws UsageException if it was asked for what there isn't
   */
  void finish() throws IOException, InterruptedException {
    int code = process.waitFor();
    if (code != ExitCode.FINE) {
      throw failed("its end", code);
    }
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    Runtime.getRuntime().removeShutdownHook(killer);
    lines.close();
  }
}

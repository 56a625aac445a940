package io.steelyard.lab.worker;

import io.steelyard.lab.worker.WorkerException.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

/**
 * A worker's process with everything that it starts: a session and process group of its own, so
 * that one signal ends them all. When the worker itself ends, the rest of its group is killed; when
 * the coordinator ends, so are all groups.
 */
final class ProcessGroup {
  /** How long a message waits for what a process wrote before it ended. */
  private static final Duration LAST_WORDS = Duration.ofSeconds(1);

  private static final Set<ProcessGroup> ALIVE = ConcurrentHashMap.newKeySet();

  /**
   * The one thread that starts processes. The kernel's signal at the parent's death comes when the
   * <em>thread</em> that started a process ends, so that thread must live as long as the
   * coordinator.
   */
  private static final ExecutorService SPAWNER =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("steelyard-spawner").factory());

  static {
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> ALIVE.forEach(ProcessGroup::kill), "steelyard-kill"));
  }

  /** Programs looked up once. */
  private static final Map<String, Optional<String>> TOOLS = new ConcurrentHashMap<>();

  /**
   * Asks the kernel to kill the worker when its coordinator dies. Empty where the tool is missing
   * or too old to: there, a worker still sees the end of its standard input.
   */
  private static final List<String> DEATH_SIGNAL = deathSignal();

  private final Process process;
  private final long startedNanos;
  private final ErrorLog errors;

  private ProcessGroup(Process process, long startedNanos, Path stderrFile) {
    this.process = process;
    this.startedNanos = startedNanos;
    this.errors = ErrorLog.start(process.getErrorStream(), stderrFile, process.pid());
  }

  static ProcessGroup start(WorkerCommand command, Path stderrFile) throws WorkerException {
    if (!System.getProperty("os.name").equals("Linux")) {
      throw new WorkerException(
          Kind.NOT_STARTED,
          "workers need Linux (process groups, affinity and memory figures come from it); this is "
              + System.getProperty("os.name"));
    }
    List<String> line = new ArrayList<>();
    line.add(tool("setsid", "starts each worker in a process group of its own"));
    line.addAll(DEATH_SIGNAL);
    if (!command.cpus().isEmpty()) {
      line.add(tool("taskset", "keeps a worker to processors " + command.cpus()));
      line.add("-c");
      line.add(command.cpus());
    }
    line.addAll(command.command());
    ProcessBuilder builder = new ProcessBuilder(line);
    Map<String, String> environment = builder.environment();
    environment.keySet().removeAll(WorkerCommand.REMOVED);
    environment.putAll(command.environment());
    try {
      Files.createDirectories(stderrFile.toAbsolutePath().getParent());
      return SPAWNER.submit(() -> start(builder, stderrFile)).get();
    } catch (IOException e) {
      throw new WorkerException(
          Kind.NOT_STARTED,
          "engine '%s': its error log %s can't be written: %s"
              .formatted(command.engine(), stderrFile, e.getMessage()),
          e);
    } catch (ExecutionException e) {
      throw new WorkerException(
          Kind.NOT_STARTED,
          "engine '%s' can't be started: %s".formatted(command.engine(), e.getCause().getMessage()),
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WorkerException(
          Kind.NOT_STARTED, "interrupted while starting engine '" + command.engine() + "'", e);
    }
  }

  private static ProcessGroup start(ProcessBuilder builder, Path stderrFile) throws IOException {
    long startedNanos = System.nanoTime();
    ProcessGroup group = new ProcessGroup(builder.start(), startedNanos, stderrFile);
    ALIVE.add(group);
    // What the worker left behind would keep its output open, and go on computing.
    var _ =
        group
            .process
            .onExit()
            .thenRun(
                () -> {
                  Posix.killGroup(group.pid());
                  ALIVE.remove(group);
                });
    return group;
  }

  Process process() {
    return process;
  }

  /** Of the worker, and also of its process group. */
  long pid() {
    return process.pid();
  }

  /** {@link System#nanoTime} just before the process was started. */
  long startedNanos() {
    return startedNanos;
  }

  /**
   * Stops all processes of the group, whatever they do, until {@link #resume}. Where the kernel
   * can't be asked to kill them with the coordinator they go on: a stopped one would never see its
   * end.
   */
  void pause() {
    if (!DEATH_SIGNAL.isEmpty() && process.isAlive()) {
      Posix.pauseGroup(pid());
    }
  }

  /** Lets them go on. */
  void resume() {
    if (process.isAlive()) {
      Posix.resumeGroup(pid());
    }
  }

  /** Kills every process of the group, and descendants that left it. */
  void kill() {
    List<ProcessHandle> descendants;
    try (Stream<ProcessHandle> stream = process.descendants()) {
      descendants = stream.toList();
    }
    if (process.isAlive()) {
      Posix.killGroup(pid());
      // Before the process has become a group's leader, the signal above finds nobody.
      process.destroyForcibly();
    }
    descendants.forEach(ProcessHandle::destroyForcibly);
  }

  /** How the process ended: {@code exited with code 1}. */
  String ending() {
    int code = process.exitValue();
    return switch (code) {
      case 128 + 9 -> "was killed by SIGKILL, perhaps because memory ran out";
      case 128 + 11 -> "crashed with SIGSEGV";
      case 128 + 6 -> "aborted with SIGABRT";
      case 128 + 4 -> "crashed with SIGILL: it uses an instruction that this processor lacks";
      case 128 + 7 ->
          "crashed with SIGBUS, perhaps because a mapped file was cut or a disk is full";
      case 128 + 8 -> "crashed with SIGFPE";
      case 128 + 15 -> "was ended by SIGTERM";
      default ->
          code > 128 && code < 128 + 65
              ? "was ended by signal " + (code - 128)
              : "exited with code " + code;
    };
  }

  /** Waits for what a process that has ended had still to say, so that its log is complete. */
  void awaitLog() {
    errors.finish(LAST_WORDS);
  }

  /** The last lines that it wrote to standard error, quoted for a message; empty if none. */
  String stderrTail() {
    if (!process.isAlive()) {
      errors.finish(LAST_WORDS);
    }
    return errors.quoted();
  }

  private static List<String> deathSignal() {
    Optional<String> setpriv = findTool("setpriv");
    if (setpriv.isEmpty()) {
      return List.of();
    }
    List<String> prefix = List.of(setpriv.get(), "--pdeathsig", "KILL");
    List<String> trial = new ArrayList<>(prefix);
    trial.add("true");
    try {
      Process process =
          new ProcessBuilder(trial)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor() == 0 ? prefix : List.of();
    } catch (IOException e) {
      return List.of();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return List.of();
    }
  }

  private static String tool(String name, String purpose) throws WorkerException {
    return findTool(name)
        .orElseThrow(
            () ->
                new WorkerException(
                    Kind.NOT_STARTED,
                    "'%s' is not on the PATH; it %s. It comes with util-linux"
                        .formatted(name, purpose)));
  }

  private static Optional<String> findTool(String name) {
    return TOOLS.computeIfAbsent(name, ProcessGroup::searchPath);
  }

  private static Optional<String> searchPath(String tool) {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse("/usr/bin:/bin");
    return Stream.of(path.split(":", -1))
        .filter(folder -> !folder.isEmpty())
        .map(folder -> Path.of(folder, tool))
        .filter(Files::isExecutable)
        .map(Path::toString)
        .findFirst();
  }
}

package io.steelyard.lab.worker;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * How to start a worker.
 *
 * <p>The worker inherits the coordinator's environment, except for {@link #REMOVED}: flags for
 * every JVM of the user are not flags of a measurement.
 *
 * @param engine the engine's name, for messages
 * @param command the program and its arguments
 * @param environment variables to set in addition
 * @param cpus processors that the worker may run on, in the notation of {@code taskset}: {@code
 *     0-1,4}; empty for all that the coordinator may use
 */
public record WorkerCommand(
    String engine, List<String> command, Map<String, String> environment, String cpus) {
  /** Variables that no worker gets. */
  public static final Set<String> REMOVED =
      Set.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS");

  /** The Java heap's limit in a JVM worker; models and caches lie outside the heap. */
  public static final String HEAP = "-Xmx2g";

  /** The system property with the flag for the ahead-of-time cache of workers, if there is one. */
  private static final String AOT_PROPERTY = "steelyard.aot";

  /**
   * Keeps the protocol's stream as descriptor 3 and makes descriptor 1 mean standard error, so that
   * not even a native library that prints can disturb the protocol. Done by the shell, in a
   * millisecond: the JVM could do it through foreign functions, whose first use takes 100.
   */
  private static final List<String> PROTOCOL_APART =
      List.of("/bin/sh", "-c", "exec \"$@\" 3>&1 1>&2", "sh");

  /**
   * The JVM's compilers give way to an engine's threads, which a processor of few cores would
   * otherwise make wait, and each other. Without the rights of root it works as well, but would
   * warn that it may not.
   */
  private static final List<String> COMPILERS_GIVE_WAY =
      List.of("-XX:ThreadPriorityPolicy=1", "-XX:CompilerThreadPriority=5", "-XX:-PrintWarnings");

  /**
   * The virtual machine's own memory, which counts in an engine's peak. Records are made without a
   * class written for the shape of each; the cache of classes lies where it was made for, so that
   * its pages stay the file's; compilers, whose memory grows with what they inline, inline no large
   * methods (a run of 20 MB becomes one of 8); and new objects, few after the start, get little.
   */
  private static final List<String> SMALL =
      List.of(
          "-Djdk.reflect.useNativeAccessorOnly=true",
          "-XX:+UnlockDiagnosticVMOptions",
          "-XX:ArchiveRelocationMode=0",
          "-XX:InlineSmallCode=800",
          "-XX:NewSize=2m");

  private static final Pattern CPUS =
      Pattern.compile("\\d{1,5}(-\\d{1,5})?(,\\d{1,5}(-\\d{1,5})?)*");

  public WorkerCommand {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
    if (command.isEmpty()) {
      throw new IllegalArgumentException("engine '" + engine + "' has an empty command");
    }
    if (!cpus.isEmpty() && !CPUS.matcher(cpus).matches()) {
      throw new IllegalArgumentException(
          "'" + cpus + "' is no list of processors: write it as 0-1 or 0,2");
    }
  }

  /**
   * A JVM engine: this coordinator's own Java and class path, and {@link WorkerMain}.
   *
   * <p>The serial collector, because it has no threads of its own that could disturb a measurement,
   * and no heap laid out in advance. A provider's flags come last and win.
   *
   * @param options that the engine will be loaded with
   */
  public static WorkerCommand jvm(EngineProvider provider, Map<String, String> options) {
    List<String> command = new ArrayList<>(PROTOCOL_APART);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-XX:+UseSerialGC");
    command.add("-Xms16m");
    command.add(HEAP);
    command.addAll(COMPILERS_GIVE_WAY);
    command.addAll(SMALL);
    String cache = System.getProperty(AOT_PROPERTY, "");
    if (!cache.isEmpty()) {
      command.add(cache);
    }
    command.addAll(provider.jvmFlags(options));
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(WorkerMain.class.getName());
    command.add(provider.getClass().getName());
    command.add("/dev/fd/3");
    return new WorkerCommand(provider.name(), command, provider.environment(), "");
  }

  /** The same with further variables in its environment. */
  public WorkerCommand with(Map<String, String> further) {
    Map<String, String> all = new HashMap<>(environment);
    all.putAll(further);
    return new WorkerCommand(engine, command, all, cpus);
  }

  /** The same, kept to these processors ({@code 0-1,4}; empty for no restriction). */
  public WorkerCommand onCpus(String list) {
    return new WorkerCommand(engine, command, environment, list);
  }
}

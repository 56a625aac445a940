package io.steelyard.lab.worker;

import io.steelyard.lab.RunException;
import io.steelyard.lab.study.Study;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Starts workers for one model and tells each what the settings and its own options say. */
public final class Workers {
  private static final String ENVIRONMENT = "env.";

  private final Study.Model model;
  private final Study.Settings settings;
  private final EngineRegistry registry;
  private final Function<String, Path> stderr;
  private final Path scratch;

  /**
   * @param stderr where a worker of this name writes what it has to say
   * @param scratch a folder for bulk data
   */
  public Workers(
      Study.Model model,
      Study.Settings settings,
      EngineRegistry registry,
      Function<String, Path> stderr,
      Path scratch) {
    this.model = model;
    this.settings = settings;
    this.registry = registry;
    this.stderr = stderr;
    this.scratch = scratch;
  }

  /** The same for another file. */
  public Workers on(Study.Model other) {
    return new Workers(other, settings, registry, stderr, scratch);
  }

  /** A folder for bulk data, deleted with the run's process. */
  public Path scratch() {
    return scratch;
  }

  /**
   * Starts an engine's worker.
   *
   * @param name what it is for; names the file of its stderr
   * @param options the engine's options; {@code env.NAME=…} sets a variable of its environment
   */
  public WorkerProcess start(String name, String engine, Map<String, String> options)
      throws WorkerException {
    return start(name, engine, options, Timeouts.DEFAULT);
  }

  /** The same, with other limits to the coordinator's patience. */
  public WorkerProcess start(
      String name, String engine, Map<String, String> options, Timeouts timeouts)
      throws WorkerException {
    return start(name, command(engine, options), timeouts);
  }

  /** Starts a worker by its command. */
  public WorkerProcess start(String name, WorkerCommand command, Timeouts timeouts)
      throws WorkerException {
    return WorkerProcess.start(command, stderr.apply(name), scratch, timeouts);
  }

  /** How an engine's worker is started. Labels with the same command can share a process. */
  public WorkerCommand command(String engine, Map<String, String> options) {
    try {
      return registry
          .command(new EngineSpec(engine, engine, options, engine))
          .with(EngineSpec.environment(options))
          .onCpus(settings.affinity());
    } catch (EngineException e) {
      throw new RunException(e.getMessage(), e);
    }
  }

  /** As {@link EngineRegistry#programFiles}. */
  public List<Path> programFiles(String engine) {
    try {
      return registry.programFiles(EngineSpec.parse(engine));
    } catch (EngineException e) {
      throw new RunException(e.getMessage(), e);
    }
  }

  /**
   * Loads the model into a worker.
   *
   * @param options the engine's options; {@code threads}, {@code context}, {@code kv} and {@code
   *     flash} stand for the settings, the others are the engine's own
   */
  public LoadReport load(WorkerProcess worker, Map<String, String> options) throws WorkerException {
    return worker.load(request(options)).value();
  }

  /** What a worker is told to load. */
  public LoadRequest request(Map<String, String> options) {
    Map<String, String> own = new HashMap<>(options);
    own.keySet().removeIf(key -> key.startsWith(ENVIRONMENT));
    String threads = own.remove("threads");
    String context = own.remove("context");
    // Values that the settings can't have are the engine's own to understand or to refuse.
    String kv =
        List.of("f16", "f32", "q8_0").contains(own.getOrDefault("kv", ""))
            ? own.remove("kv")
            : null;
    String flash =
        List.of("on", "off").contains(own.getOrDefault("flash", "")) ? own.remove("flash") : null;
    return new LoadRequest(
        model.file(),
        threads == null ? settings.threads() : number("threads", threads),
        context == null ? settings.context() : number("context", context),
        kv == null ? settings.kv() : kv,
        flash == null ? settings.flashAttention() : flash.equals("on"),
        own);
  }

  private static int number(String option, String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new RunException("option " + option + "=" + text + " is not a number", e);
    }
  }
}

package io.steelyard.lab.worker;

import io.steelyard.lab.worker.EngineException.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The engines that can be named: JVM engines on the class path, and the user's own, each a file
 * {@code NAME.json} in {@code $STEELYARD_ENGINES} or else {@code ~/.config/steelyard/engines}:
 *
 * <pre>{"name":"mine","description":"one line","command":["python3","/path/to/engine.py"]}</pre>
 */
public final class EngineRegistry {
  /**
   * A known engine.
   *
   * @param name as in {@code --engine}
   * @param description one line
   * @param options what can be written after the name, {@code key=values meaning}
   * @param origin {@code built in}, or the file that names it
   * @param command how to start it
   */
  public record Entry(
      String name, String description, List<String> options, String origin, Command command) {

    /** Whether it came with Steelyard, rather than from a file of the user's. */
    public boolean isBuiltIn() {
      return origin.equals(BUILT_IN);
    }
  }

  /** How an engine is started, given its options. */
  @FunctionalInterface
  public interface Command {
    WorkerCommand with(Map<String, String> options);
  }

  /** What an engine file holds. */
  record UserEngine(String name, String description, List<String> command) {}

  private static final String BUILT_IN = "built in";
  private static final int MAX_FILE = 1 << 16;
  private static final int MAX_FILES = 1_000;
  private static final int NEAR = 3;

  private final Map<String, Entry> entries = new TreeMap<>();
  private final List<String> problems = new ArrayList<>();

  private EngineRegistry() {}

  /** What this machine has. */
  public static EngineRegistry system() {
    String folder = System.getenv("STEELYARD_ENGINES");
    return of(
        folder != null && !folder.isBlank()
            ? Path.of(folder)
            : Path.of(System.getProperty("user.home"), ".config", "steelyard", "engines"));
  }

  /** The built-in engines and those of a folder, which need not exist. */
  public static EngineRegistry of(Path folder) {
    EngineRegistry registry = new EngineRegistry();
    for (EngineProvider provider : EngineProviders.all()) {
      registry.add(
          new Entry(
              provider.name(),
              provider.description(),
              List.copyOf(provider.options()),
              BUILT_IN,
              options -> WorkerCommand.jvm(provider, options)));
    }
    registry.addFolder(folder);
    return registry;
  }

  /**
   * These engines and some more, which take no options.
   *
   * @param workers by name, the command that starts a worker
   */
  public EngineRegistry with(Map<String, List<String>> workers) {
    EngineRegistry all = new EngineRegistry();
    all.entries.putAll(entries);
    all.problems.addAll(problems);
    workers.forEach(
        (name, command) ->
            all.entries.put(
                name,
                new Entry(
                    name,
                    "",
                    List.of(),
                    "given",
                    _ -> new WorkerCommand(name, command, Map.of(), ""))));
    return all;
  }

  /** All engines, by name. */
  public List<Entry> entries() {
    return List.copyOf(entries.values());
  }

  /** Engine files that can't be used, a sentence each. */
  public List<String> problems() {
    return List.copyOf(problems);
  }

  /**
   * How to start the engine that a spec names.
   *
   * @throws EngineException if there is no such engine; the message names those nearest to it
   */
  public WorkerCommand command(EngineSpec spec) throws EngineException {
    if (spec.isPath()) {
      return program(spec.name());
    }
    Entry entry = entries.get(spec.name());
    if (entry == null) {
      throw new EngineException(Kind.MISSING, unknown(spec.name()));
    }
    return entry.command().with(spec.options());
  }

  /**
   * The files that a user's own program is started with: those of its command that exist, which
   * covers a script and its interpreter but not what they read later. None for a built-in engine.
   *
   * @throws EngineException if there is no such engine
   */
  public List<Path> programFiles(EngineSpec spec) throws EngineException {
    WorkerCommand command = command(spec);
    if (!spec.isPath() && entries.get(spec.name()).isBuiltIn()) {
      return List.of();
    }
    return command.command().stream().map(Path::of).filter(Files::isRegularFile).toList();
  }

  private static WorkerCommand program(String path) throws EngineException {
    Path program = Path.of(path).toAbsolutePath();
    if (!Files.isRegularFile(program)) {
      throw new EngineException(Kind.MISSING, "engine program " + program + " does not exist");
    }
    if (!Files.isExecutable(program)) {
      throw new EngineException(
          Kind.MISSING, "engine program " + program + " is not executable: chmod +x it");
    }
    return new WorkerCommand(path, List.of(program.toString()), Map.of(), "");
  }

  private String unknown(String name) {
    List<String> near =
        entries.keySet().stream()
            .filter(known -> distance(name, known) <= NEAR || known.startsWith(name))
            .sorted(Comparator.comparingInt(known -> distance(name, known)))
            .toList();
    return "there is no engine '"
        + name
        + "'"
        + (near.isEmpty() ? "." : "; did you mean " + String.join(" or ", near) + "?")
        + " Known are "
        + String.join(", ", entries.keySet())
        + "; a program that speaks the protocol is given by its path";
  }

  private void addFolder(Path folder) {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (Stream<Path> files = Files.list(folder)) {
      files
          .filter(file -> file.getFileName().toString().endsWith(".json"))
          .sorted()
          .limit(MAX_FILES)
          .forEach(this::addFile);
    } catch (IOException e) {
      problems.add("engine folder " + folder + " can't be read: " + e.getMessage());
    }
  }

  private void addFile(Path file) {
    try {
      if (Files.size(file) > MAX_FILE) {
        throw new WireException("it is larger than " + MAX_FILE + " bytes");
      }
      UserEngine engine =
          RecordCodec.read(UserEngine.class, Json.parse(Files.readAllBytes(file)), "engine");
      if (engine.name().isBlank() || engine.name().matches(".*[:/,=\\s].*")) {
        throw new WireException("its name '" + engine.name() + "' may not hold : / , = or blanks");
      }
      if (engine.command().isEmpty()) {
        throw new WireException("its command is empty");
      }
      add(
          new Entry(
              engine.name(),
              engine.description(),
              List.of(),
              file.toString(),
              _ -> new WorkerCommand(engine.name(), engine.command(), Map.of(), "")));
    } catch (IOException | WireException e) {
      problems.add("engine file " + file + " can't be used: " + e.getMessage());
    }
  }

  private void add(Entry entry) {
    Optional.ofNullable(entries.putIfAbsent(entry.name(), entry))
        .ifPresent(
            first ->
                problems.add(
                    "engine '"
                        + entry.name()
                        + "' of "
                        + entry.origin()
                        + " is hidden by that of "
                        + first.origin()));
  }

  /** Levenshtein's distance. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int substitute = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(substitute, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}

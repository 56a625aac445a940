package io.steelyard.history;

import io.steelyard.lab.RunException;
import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import tools.jackson.core.JacksonException;

/** Reads a finished run's directory. */
public final class RunReader {
  private static final long LARGEST_FILE = 64L << 20;
  private static final long LARGEST_JOURNAL = 1L << 30;
  private static final String PLAN = "plan.json";
  private static final String SUMMARY = "summary.json";
  private static final String JOURNAL = "trials.jsonl";

  private final Path directory;

  private RunReader(Path directory) {
    this.directory = directory;
  }

  /**
   * Reads a run: its figures from the summary, its timed calls from the journal.
   *
   * @throws HistoryException if it is no run, isn't finished, or a file of it is damaged
   */
  public static RunRecord read(Path directory) {
    return new RunReader(directory).read();
  }

  private RunRecord read() {
    if (!Files.exists(directory.resolve(PLAN))) {
      throw new HistoryException(
          "%s is no run: a run is a folder with a %s".formatted(directory, PLAN));
    }
    if (!Files.exists(directory.resolve(SUMMARY))) {
      throw new HistoryException(
          "the run %s isn't finished: './steelyard resume %s' goes on with it"
              .formatted(directory, directory));
    }
    String planText = text(PLAN);
    String summaryText = text(SUMMARY);
    Study study = parse(PLAN, planText, Study.class);
    Summary summary = parse(SUMMARY, summaryText, Summary.class);
    if (!Summary.SCHEMA.equals(summary.schema())) {
      throw damaged(
          SUMMARY,
          "its schema is %s, this version reads %s".formatted(summary.schema(), Summary.SCHEMA));
    }
    String environmentText =
        Files.exists(directory.resolve(RunDirectory.ENVIRONMENT))
            ? text(RunDirectory.ENVIRONMENT)
            : "{}";
    Map<String, Object> environment = environment(environmentText);
    Path journal = directory.resolve(JOURNAL);
    List<Entry> entries = entries(journal);
    return new RunRecord(
        directory.toAbsolutePath().normalize().getFileName().toString(),
        RunRecord.STEELYARD,
        started(entries),
        study.command(),
        new RunRecord.Model(study.model().name(), study.model().sha256(), summary.weights()),
        settings(study.settings()),
        commit(environment),
        environment,
        Sha256.of(bytes(planText), bytes(firstLine(journal))),
        Sha256.of(
            bytes(planText),
            bytes(environmentText),
            bytes(summaryText),
            // The journal's length stands for the journal: what was written stays as it is.
            bytes(Long.toString(extent(journal)))),
        extent(journal),
        cells(study, summary, entries),
        summary.comparisons());
  }

  private List<MeasuredCell> cells(Study study, Summary summary, List<Entry> entries) {
    List<Metric> metrics;
    try {
      metrics = Metric.of(study);
    } catch (IllegalArgumentException e) {
      throw damaged(PLAN, e.getMessage(), e);
    }
    try {
      return cells(metrics, summary, entries);
    } catch (IllegalArgumentException | NoSuchElementException e) {
      throw damaged(JOURNAL, "a figure can't be computed from it: " + e.getMessage(), e);
    }
  }

  private List<MeasuredCell> cells(List<Metric> metrics, Summary summary, List<Entry> entries) {
    Blocks blocks = Blocks.of(entries);
    List<MeasuredCell> cells = new ArrayList<>();
    for (Summary.Cell figures : summary.cells()) {
      List<TimedValue> values =
          metrics.stream()
              .filter(metric -> metric.name().equals(figures.metric()))
              .findFirst()
              .map(metric -> values(figures.label(), metric, blocks, entries))
              .orElse(List.of());
      cells.add(new MeasuredCell(figures, values));
    }
    return cells;
  }

  /** One value a timed call, or one a process where the process is the trial. */
  private List<TimedValue> values(String label, Metric metric, Blocks blocks, List<Entry> entries) {
    Cell cell = new Cell(label, metric.workload());
    List<ForkRecord> sound = List.copyOf(blocks.sound(cell).values());
    if (sound.stream().anyMatch(fork -> fork.start() == null)) {
      throw damaged(JOURNAL, "a process of " + cell.id() + " ends that never started");
    }
    return metric.workload().kind() == Workload.Kind.START
        ? sound.stream().map(fork -> ofFork(fork, metric)).toList()
        : ofCalls(metric, cell.id(), sound, entries);
  }

  private static TimedValue ofFork(ForkRecord fork, Metric metric) {
    Entry.ForkStart start = fork.start();
    return new TimedValue(
        start.block(),
        start.attempt(),
        start.fork(),
        Role.TRIAL,
        0,
        true,
        metric.sample(List.of(fork)).mean());
  }

  private static List<TimedValue> ofCalls(
      Metric metric, String cell, List<ForkRecord> sound, List<Entry> entries) {
    record Fork(int block, int attempt, int fork) {}
    Set<Fork> counting = new HashSet<>();
    for (ForkRecord fork : sound) {
      counting.add(new Fork(fork.end().block(), fork.end().attempt(), fork.end().fork()));
    }
    List<TimedValue> values = new ArrayList<>();
    for (Entry entry : entries) {
      if (entry instanceof Entry.Call call && call.cell().equals(cell) && call.nanos() > 0) {
        values.add(
            new TimedValue(
                call.block(),
                call.attempt(),
                call.fork(),
                call.role(),
                call.index(),
                counting.contains(new Fork(call.block(), call.attempt(), call.fork())),
                metric.of(call)));
      }
    }
    return values;
  }

  /** When the first block began; of a run without any, when it was planned. */
  private Instant started(List<Entry> entries) {
    for (Entry entry : entries) {
      if (entry instanceof Entry.BlockStart start) {
        try {
          return Instant.parse(start.at());
        } catch (DateTimeException e) {
          throw damaged(JOURNAL, "'" + start.at() + "' is no time", e);
        }
      }
    }
    try {
      return Files.getLastModifiedTime(directory.resolve(PLAN)).toInstant();
    } catch (IOException e) {
      throw damaged(PLAN, RunException.reason(e), e);
    }
  }

  private static String settings(Study.Settings settings) {
    return "threads=%d context=%d kv=%s flash=%s affinity=%s"
        .formatted(
            settings.threads(),
            settings.context(),
            settings.kv(),
            settings.flashAttention() ? "on" : "off",
            settings.affinity());
  }

  private static RunRecord.Commit commit(Map<String, Object> environment) {
    if (environment.get("repository") instanceof Map<?, ?> repository
        && repository.get("commit") instanceof String id) {
      return new RunRecord.Commit(
          id,
          repository.get("dirty") instanceof Boolean dirty ? Optional.of(dirty) : Optional.empty());
    }
    return RunRecord.Commit.UNKNOWN;
  }

  private Map<String, Object> environment(String text) {
    try {
      return Text.map(text);
    } catch (JacksonException e) {
      throw damaged(RunDirectory.ENVIRONMENT, e.getOriginalMessage(), e);
    }
  }

  private <T> T parse(String file, String text, Class<T> type) {
    T value;
    try {
      value = Json.read(text, type);
    } catch (JacksonException e) {
      throw damaged(file, e.getOriginalMessage(), e);
    }
    requireWhole(file, "", value);
    return value;
  }

  private void requireWhole(String file, String place, Object value) {
    Missing.in(value)
        .ifPresent(
            name -> {
              throw damaged(file, "'%s'%s is null".formatted(name, place));
            });
  }

  private List<Entry> entries(Path journal) {
    if (!Files.exists(journal)) {
      return List.of();
    }
    requireSize(journal, LARGEST_JOURNAL);
    List<Entry> entries;
    try {
      entries = Journal.read(journal);
    } catch (RunException e) {
      throw new HistoryException(e.getMessage(), e);
    }
    for (int line = 1; line <= entries.size(); line++) {
      requireWhole(JOURNAL, " of line " + line, own(entries.get(line - 1)));
    }
    return entries;
  }

  /** An entry without what an engine says of itself, which may lack anything. */
  private static Object own(Entry entry) {
    if (!(entry instanceof Entry.ForkStart start)) {
      return entry;
    }
    Map<String, Object> own = new LinkedHashMap<>();
    own.put("cell", start.cell());
    own.put("phases", start.phases());
    return own;
  }

  private static String firstLine(Path journal) {
    if (!Files.exists(journal)) {
      return "";
    }
    try (BufferedReader reader = Files.newBufferedReader(journal)) {
      String line = reader.readLine();
      return line == null ? "" : line;
    } catch (IOException e) {
      throw new HistoryException("can't read " + journal + ": " + RunException.reason(e), e);
    }
  }

  private static long extent(Path journal) {
    try {
      return Files.exists(journal) ? Files.size(journal) : 0;
    } catch (IOException e) {
      throw new HistoryException("can't read " + journal + ": " + RunException.reason(e), e);
    }
  }

  private String text(String file) {
    Path path = directory.resolve(file);
    requireSize(path, LARGEST_FILE);
    try {
      return Files.readString(path);
    } catch (IOException e) {
      throw damaged(file, RunException.reason(e), e);
    }
  }

  private static void requireSize(Path path, long most) {
    if (extent(path) > most) {
      throw new HistoryException(
          "%s has more than %d MiB: no run is that large".formatted(path, most >> 20));
    }
  }

  private HistoryException damaged(String file, String why) {
    return damaged(file, why, null);
  }

  private HistoryException damaged(String file, String why, Exception cause) {
    return new HistoryException(
        "can't add the run: %s is damaged: %s".formatted(directory.resolve(file), why), cause);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}

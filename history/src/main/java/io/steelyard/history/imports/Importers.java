package io.steelyard.history.imports;

import io.steelyard.history.HistoryException;
import io.steelyard.history.RunRecord;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** All formats that can be read. */
public final class Importers {
  private static final int HEAD = 64 << 10;

  private static final Importer LLAMA_BENCH_JSON = new LlamaBenchJson();
  private static final Importer LLAMA_BENCH_JSON_LINES = new LlamaBenchJsonLines();
  private static final Importer LLAMA_BENCH_CSV = new LlamaBenchCsv();
  private static final Importer LLAMA_BENCH_SQL = new LlamaBenchSql();
  private static final Importer LLAMA_BENCH_MARKDOWN = new LlamaBenchMarkdown();
  private static final Importer JMH = new JmhJson();
  private static final Importer HYPERFINE = new HyperfineJson();
  private static final Importer PYTEST = new PytestBenchmarkJson();
  private static final Importer GOOGLE = new GoogleBenchmarkJson();
  private static final Importer VLLM = new VllmServingJson();

  private Importers() {}

  /** All of them. */
  public static List<Importer> all() {
    return List.of(
        LLAMA_BENCH_JSON,
        LLAMA_BENCH_JSON_LINES,
        LLAMA_BENCH_CSV,
        LLAMA_BENCH_SQL,
        LLAMA_BENCH_MARKDOWN,
        JMH,
        HYPERFINE,
        PYTEST,
        GOOGLE,
        VLLM);
  }

  /**
   * The importer of this name.
   *
   * @throws HistoryException if there is none
   */
  public static Importer of(String name) {
    return all().stream()
        .filter(importer -> importer.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new HistoryException(
                    "there is no format '%s': there are %s".formatted(name, names())));
  }

  private static String names() {
    return all().stream().map(Importer::name).collect(Collectors.joining(", "));
  }

  /**
   * Reads a file whose format is told by its first lines.
   *
   * @throws HistoryException if they tell none that is known, or the file is refused
   */
  public static List<RunRecord> read(Path file) {
    byte[] bytes = Bounds.bytes(file);
    String head =
        new String(bytes, 0, Math.min(bytes.length, HEAD), StandardCharsets.UTF_8)
            .replace("\ufeff", "")
            .strip();
    return format(head)
        .orElseThrow(
            () ->
                new HistoryException(
                    "%s is of no format that is known by its first lines: name it, as one of %s"
                        .formatted(file, names())))
        .read(file);
  }

  /** What the beginning of a file tells; what it holds is proved by reading it. */
  private static Optional<Importer> format(String head) {
    String upper = head.substring(0, Math.min(head.length(), 16)).toUpperCase(Locale.ROOT);
    if (upper.startsWith("CREATE TABLE") || upper.startsWith("INSERT INTO")) {
      return Optional.of(LLAMA_BENCH_SQL);
    }
    if (head.startsWith("[")) {
      return head.contains("\"primaryMetric\"") || head.contains("\"jmhVersion\"")
          ? Optional.of(JMH)
          : Optional.of(LLAMA_BENCH_JSON).filter(i -> head.contains("\"build_commit\""));
    }
    if (head.startsWith("{")) {
      return ofObject(head);
    }
    if (head.startsWith("|") || head.contains("\n|")) {
      return Optional.of(LLAMA_BENCH_MARKDOWN);
    }
    return Optional.of(LLAMA_BENCH_CSV)
        .filter(i -> head.lines().findFirst().orElse("").contains("build_commit"));
  }

  private static Optional<Importer> ofObject(String head) {
    if (head.contains("\"build_commit\"")) {
      return Optional.of(LLAMA_BENCH_JSON_LINES);
    }
    if (head.contains("\"machine_info\"")) {
      return Optional.of(PYTEST);
    }
    if (head.contains("\"context\"") && head.contains("\"benchmarks\"")) {
      return Optional.of(GOOGLE);
    }
    if (head.contains("\"results\"") && head.contains("\"command\"")) {
      return Optional.of(HYPERFINE);
    }
    return Optional.of(VLLM)
        .filter(i -> head.contains("\"completed\"") || head.contains("\"request_throughput\""));
  }
}

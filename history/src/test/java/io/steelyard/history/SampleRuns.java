package io.steelyard.history;

import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.Summary;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** Runs made up for tests, seeded by their names. */
public final class SampleRuns {
  public static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");
  public static final Map<String, Object> HERE = machine("Example CPU");
  public static final Map<String, Object> ELSEWHERE = machine("Another CPU");

  private SampleRuns() {}

  private static Map<String, Object> machine(String processor) {
    Map<String, Object> hardware = new LinkedHashMap<>();
    hardware.put("processor", processor);
    hardware.put("cores", 2);
    return hardware;
  }

  /** A run with one decode cell of about this speed: three forks of three trials. */
  static RunRecord run(String name, Instant started, double tokensPerSecond) {
    return run(name, started, HERE, tokensPerSecond, 3, 3);
  }

  static RunRecord run(
      String name,
      Instant started,
      Map<String, Object> hardware,
      double tokensPerSecond,
      int forks,
      int trials) {
    return run(
        name,
        started,
        hardware,
        List.of(cell(name, "steelyard", "tg64", tokensPerSecond, forks, trials)));
  }

  static RunRecord run(
      String name, Instant started, Map<String, Object> hardware, List<MeasuredCell> cells) {
    Map<String, Object> environment = new LinkedHashMap<>();
    environment.put("hardware", hardware);
    environment.put("runtime", Map.of("jdk", "25", "note", "ü \u0000 \ud83d\ude00"));
    return new RunRecord(
        name,
        RunRecord.STEELYARD,
        started,
        "./steelyard bench decode",
        new RunRecord.Model("model", "abc", "real"),
        "threads=2",
        new RunRecord.Commit("0123abc", Optional.of(false)),
        environment,
        name,
        Sha256.of((name + cells).getBytes(StandardCharsets.UTF_8)),
        100,
        cells,
        List.of(
            new Summary.Comparison(
                "tg64", "steelyard", "other", "model", "Q8_0", 1.1, null, 1.2, "faster", 3, "")));
  }

  /** The same run after it was resumed, or before. */
  static RunRecord withExtent(RunRecord run, long extent, List<MeasuredCell> cells) {
    return new RunRecord(
        run.name(),
        run.source(),
        run.started(),
        run.command(),
        run.model(),
        run.settings(),
        run.commit(),
        run.environment(),
        run.identity(),
        run.content() + extent,
        extent,
        cells,
        run.comparisons());
  }

  static RunRecord with(RunRecord run, RunRecord.Model model, String settings) {
    return new RunRecord(
        run.name(),
        run.source(),
        run.started(),
        run.command(),
        model,
        settings,
        run.commit(),
        run.environment(),
        run.identity(),
        run.content(),
        run.extent(),
        run.cells(),
        run.comparisons());
  }

  static MeasuredCell cell(
      String seed, String label, String metric, double mean, int forks, int trials) {
    Random random = new Random(seed.hashCode());
    List<TimedValue> values = new ArrayList<>();
    for (int block = 1; block <= forks; block++) {
      values.add(new TimedValue(block, 1, 1, Role.WARM_UP, 0, true, mean / 2));
      for (int trial = 0; trial < trials; trial++) {
        double value = mean * (1 + 0.002 * random.nextGaussian());
        values.add(new TimedValue(block, 1, 1, Role.TRIAL, trial, true, value));
      }
    }
    return new MeasuredCell(figures(label, metric, mean, forks, forks * trials), values);
  }

  static Summary.Cell figures(String label, String metric, Double mean, int forks, int trials) {
    return new Summary.Cell(
        label,
        label.split(":", 2)[0],
        "model",
        "Q8_0",
        metric,
        "tok/s",
        "higher",
        mean,
        mean,
        null,
        mean,
        mean,
        null,
        mean,
        forks,
        trials,
        mean == null ? "failed" : "steady",
        1,
        0.5);
  }
}

package io.steelyard.app;

import io.steelyard.history.RunComparison;
import io.steelyard.history.StoredRun;
import io.steelyard.history.Trend;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs of a history as the commands' {@code --json} writes them. */
final class HistoryJson {
  private HistoryJson() {}

  /** Standard output, for what is written piece by piece; flushed by who writes. */
  static Writer stdout() {
    return new PrintWriter(System.out, false, StandardCharsets.UTF_8);
  }

  static Map<String, Object> object(StoredRun run) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("number", run.number());
    object.put("name", run.name());
    object.put("source", run.source());
    object.put("started", run.started().toString());
    object.put("command", run.command());
    object.put("model", run.model());
    object.put("settings", run.settings());
    object.put("commit", run.commit().id());
    object.put("dirty", run.commit().dirty().orElse(null));
    object.put("hardware", run.hardware().orElse(null));
    object.put("processor", run.processor());
    object.put("cells", run.cells());
    object.put("calls", run.trials());
    return object;
  }

  static Map<String, Object> object(Trend trend) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("series", trend.series());
    List<Object> points = new ArrayList<>();
    for (Trend.Point point : trend.points()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("run", point.run());
      one.put("name", point.name());
      one.put("started", point.started().toString());
      one.put("commit", point.commit().id());
      one.put("dirty", point.commit().dirty().orElse(null));
      one.put("mean", point.mean());
      one.put("low", point.low());
      one.put("high", point.high());
      one.put("forks", point.forks());
      one.put("trials", point.trials());
      one.put("state", point.state());
      points.add(one);
    }
    object.put("points", points);
    object.put("elsewhere", trend.elsewhere());
    return object;
  }

  static Map<String, Object> object(RunComparison comparison) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("subject", object(comparison.subject()));
    object.put("baseline", object(comparison.baseline()));
    object.put("rows", comparison.rows());
    object.put("only_subject", comparison.onlySubject());
    object.put("only_baseline", comparison.onlyBaseline());
    return object;
  }
}

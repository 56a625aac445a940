package io.steelyard.app;

import io.steelyard.history.RunComparison;
import io.steelyard.history.StoredRun;
import io.steelyard.history.Trend;
import io.steelyard.history.TrendChanges;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
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

  static Map<String, Object> object(Trend trend, TrendChanges changes, double margin) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("series", trend.series());
    object.put("points", trend.points().stream().map(HistoryJson::object).toList());
    object.put("elsewhere", trend.elsewhere());
    List<Object> found = new ArrayList<>();
    for (TrendChanges.Change change : changes.changes()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("kind", lower(change.kind()));
      one.put("before", run(trend.points().get(change.before())));
      one.put("after", run(trend.points().get(change.after())));
      one.put("from", change.from());
      one.put("to", change.to());
      one.put("ratio", change.ratio().estimate());
      one.put("low", change.ratio().low());
      one.put("high", change.ratio().high());
      one.put("direction", change.direction().map(HistoryJson::lower).orElse("unknown"));
      one.put("exceeds_margin", change.exceeds(margin));
      one.put("p_value", change.pValue());
      one.put("found_by_e_divisive", change.foundByEDivisive());
      one.put("found_by_pelt", change.foundByPelt());
      found.add(one);
    }
    object.put("changes", found);
    object.put("no_changes_because", changes.obstacle().orElse(null));
    object.put("margin", margin);
    return object;
  }

  private static Map<String, Object> object(Trend.Point point) {
    Map<String, Object> object = run(point);
    object.put("mean", point.mean());
    object.put("low", point.low());
    object.put("high", point.high());
    object.put("forks", point.forks());
    object.put("trials", point.trials());
    object.put("state", point.state());
    return object;
  }

  private static Map<String, Object> run(Trend.Point point) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("run", point.run());
    object.put("name", point.name());
    object.put("started", point.started().toString());
    object.put("commit", point.commit().id());
    object.put("dirty", point.commit().dirty().orElse(null));
    return object;
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
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

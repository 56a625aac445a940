package io.steelyard.app;

import io.steelyard.lab.study.Study;
import io.steelyard.reports.SweepTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A matrix of studies, as a YAML file holds it: what is a list there is gone through.
 *
 * @param models models, one study each
 * @param engines all measured in every study
 * @param baseline the label that the others are compared with; empty for the usual one
 * @param metrics what is measured
 * @param options for each option of a study, the values that are gone through
 * @param fixed options of every study that are no lists: {@code budget}, {@code forks}, …
 */
record SweepPlan(
    List<String> models,
    List<String> engines,
    String baseline,
    List<String> metrics,
    Map<String, List<String>> options,
    Map<String, String> fixed) {

  private static final int MOST_STUDIES = 1000;

  private static final List<String> LISTS = List.of("prompt", "gen", "depth", "threads", "kv");

  private static final List<String> FIXED =
      List.of("budget", "forks", "trials", "precision", "margin", "seed", "quick");

  /** One study of the matrix. */
  record Point(String model, Map<String, String> values) {
    /** Names it, for folders and tables: {@code default-prompt512-threads2}. */
    String key() {
      StringBuilder key = new StringBuilder(model);
      values.forEach((name, value) -> key.append('-').append(name).append(value));
      return key.toString().replaceAll("[^A-Za-z0-9._-]+", "-");
    }

    /** What its run in the sweep's folder found, once it is finished. */
    Optional<SweepTable.Study> study(Path folder) throws IOException {
      return new TitledRuns(folder)
          .finished(key())
          .map(run -> new SweepTable.Study(model, values, TitledRuns.summary(run)));
    }
  }

  /**
   * Reads one.
   *
   * @throws UsageException that says what is wrong with it
   */
  static SweepPlan read(Path file) {
    List<String> known = new ArrayList<>(List.of("models", "engines", "baseline", "metrics"));
    known.addAll(LISTS);
    known.addAll(FIXED);
    ObjectNode fields = YamlFile.read(file, known, "models: [default]");
    Map<String, List<String>> options = new LinkedHashMap<>();
    for (String name : LISTS) {
      if (fields.has(name)) {
        options.put(name, texts(file, name, fields.get(name)));
      }
    }
    Map<String, String> fixed = new LinkedHashMap<>();
    for (String name : FIXED) {
      if (fields.has(name)) {
        fixed.put(name, text(file, name, fields.get(name)));
      }
    }
    return new SweepPlan(
        list(file, fields, "models", List.of("default")),
        list(file, fields, "engines", List.of("steelyard", "llamacpp")),
        fields.has("baseline") ? text(file, "baseline", fields.get("baseline")) : "",
        list(file, fields, "metrics", Study.METRICS),
        options,
        fixed);
  }

  private static List<String> list(Path file, ObjectNode fields, String name, List<String> usual) {
    return fields.has(name) ? texts(file, name, fields.get(name)) : usual;
  }

  private static List<String> texts(Path file, String name, JsonNode node) {
    List<String> texts = new ArrayList<>();
    if (node.isArray()) {
      node.forEach(each -> texts.add(text(file, name, each)));
    } else {
      texts.add(text(file, name, node));
    }
    if (texts.isEmpty() || new LinkedHashSet<>(texts).size() < texts.size()) {
      throw new UsageException(
          "%s: '%s' is empty or names something twice".formatted(YamlFile.at(file, name), name));
    }
    return texts;
  }

  private static String text(Path file, String name, JsonNode node) {
    if (!node.isValueNode() || node.isNull() || node.asString().isBlank()) {
      throw new UsageException(
          "%s: '%s' needs a value or a list of values".formatted(YamlFile.at(file, name), name));
    }
    return node.asString();
  }

  /** All studies, models first. */
  List<Point> points() {
    List<Point> points = new ArrayList<>();
    models.forEach(model -> points.add(new Point(model, Map.of())));
    for (Map.Entry<String, List<String>> option : options.entrySet()) {
      List<Point> longer = new ArrayList<>();
      for (Point point : points) {
        for (String value : option.getValue()) {
          Map<String, String> values = new LinkedHashMap<>(point.values());
          values.put(option.getKey(), value);
          longer.add(new Point(point.model(), values));
        }
      }
      if (longer.size() > MOST_STUDIES) {
        throw new UsageException(
            "a sweep of %d studies and more: at most %d".formatted(longer.size(), MOST_STUDIES));
      }
      points.clear();
      points.addAll(longer);
    }
    return points;
  }

  /** The command line that makes a point's study by itself. */
  List<String> arguments(Point point, Path runs) {
    List<String> arguments = new ArrayList<>(List.of("--model", point.model()));
    engines.forEach(engine -> arguments.addAll(List.of("--engine", engine)));
    Optional.of(baseline)
        .filter(label -> !label.isEmpty())
        .ifPresent(label -> arguments.addAll(List.of("--baseline", label)));
    arguments.addAll(List.of("--metrics", String.join(",", metrics), "--runs", runs.toString()));
    point.values().forEach((name, value) -> arguments.addAll(List.of("--" + name, value)));
    fixed.forEach(
        (name, value) -> {
          if (!name.equals("quick")) {
            arguments.addAll(List.of("--" + name, value));
          } else if (value.equals("true")) {
            arguments.add("--quick");
          }
        });
    return arguments;
  }
}

package io.steelyard.app;

import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.record.Perplexity;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.study.Study;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a change may not do, as a YAML file holds it.
 *
 * @param margins by metric, the change that matters
 * @param mayBeUndecided metrics that block nothing where they are undecided
 * @param quality by what is bounded, its bound; see {@link #QUALITY}
 */
record Gate(Map<String, Double> margins, List<String> mayBeUndecided, Map<String, Double> quality) {
  private static final String MEAN_KL = "mean-kl";
  private static final String PERPLEXITY = "perplexity-ratio";
  private static final String TOP1 = "top-1";

  /** What can be bounded: two from above, the last from below. */
  private static final List<String> QUALITY = List.of(MEAN_KL, PERPLEXITY, TOP1);

  private static final List<String> METRICS =
      Stream.concat(Study.METRICS.stream(), Stream.of("time")).toList();

  private static final String METRICS_KEY = "metrics";
  private static final String QUALITY_KEY = "quality";
  private static final String MARGIN = "margin";
  private static final String UNDECIDED = "undecided";

  Gate {
    margins = Map.copyOf(margins);
    mayBeUndecided = List.copyOf(mayBeUndecided);
    quality = Map.copyOf(quality);
  }

  /**
   * Reads one.
   *
   * @param margin of metrics that name none
   * @throws UsageException that says what is wrong with it
   */
  static Gate read(Path file, double margin) {
    ObjectNode fields =
        YamlFile.read(file, List.of(METRICS_KEY, QUALITY_KEY), "metrics: {decode: {margin: 2%}}");
    Map<String, Double> margins = new LinkedHashMap<>();
    List<String> mayBeUndecided = new ArrayList<>();
    ObjectNode metrics = part(file, fields, METRICS_KEY, METRICS);
    for (String metric : metrics.propertyNames()) {
      JsonNode node = metrics.get(metric);
      if (!(node instanceof ObjectNode own)) {
        throw new UsageException(
            "%s: '%s' needs a rule such as {margin: 2%%}"
                .formatted(YamlFile.at(file, METRICS_KEY, metric), metric));
      }
      YamlFile.check(file, own, List.of(MARGIN, UNDECIDED), METRICS_KEY, metric);
      margins.put(metric, own.has(MARGIN) ? share(file, metric, own.get(MARGIN)) : margin);
      String undecided = own.path(UNDECIDED).asString("fail");
      if (!List.of("fail", "pass").contains(undecided)) {
        throw new UsageException(
            "%s: '%s' of '%s' is '%s': it takes pass or fail"
                .formatted(
                    YamlFile.at(file, METRICS_KEY, metric, UNDECIDED),
                    UNDECIDED,
                    metric,
                    undecided));
      }
      if (undecided.equals("pass")) {
        mayBeUndecided.add(metric);
      }
    }
    Map<String, Double> quality = new LinkedHashMap<>();
    ObjectNode bounds = part(file, fields, QUALITY_KEY, QUALITY);
    for (String name : bounds.propertyNames()) {
      if (!bounds.get(name).isNumber() || !(bounds.get(name).asDouble() > 0)) {
        throw new UsageException(
            "%s: '%s' needs a number above 0"
                .formatted(YamlFile.at(file, QUALITY_KEY, name), name));
      }
      quality.put(name, bounds.get(name).asDouble());
    }
    if (margins.isEmpty() && quality.isEmpty()) {
      throw new UsageException(file + " bounds nothing: give it 'metrics' or 'quality'");
    }
    return new Gate(margins, mayBeUndecided, quality);
  }

  private static ObjectNode part(Path file, ObjectNode fields, String name, List<String> known) {
    if (!fields.has(name)) {
      return fields.objectNode();
    }
    if (!(fields.get(name) instanceof ObjectNode part)) {
      throw new UsageException(
          "%s: '%s' needs keys: %s"
              .formatted(YamlFile.at(file, name), name, String.join(", ", known)));
    }
    YamlFile.check(file, part, known, name);
    return part;
  }

  private static double share(Path file, String metric, JsonNode node) {
    try {
      return new Converters.Share().convert(node.asString());
    } catch (RuntimeException e) {
      throw new UsageException(
          "%s: '%s' of '%s': %s"
              .formatted(
                  YamlFile.at(file, METRICS_KEY, metric, MARGIN), MARGIN, metric, e.getMessage()));
    }
  }

  /** The study with this gate's margins. */
  Study over(Study study) {
    for (String metric : margins.keySet()) {
      if (!study.metrics().contains(metric)) {
        throw new UsageException(
            "the gate bounds %s, which isn't measured: add it to --metrics".formatted(metric));
      }
    }
    return study.toBuilder().design(study.design().margins(margins)).build();
  }

  /** The metrics that may be undecided, as a summary names them. */
  List<String> tolerated(Study study) {
    return mayBeUndecided.stream()
        .map(metric -> Metric.of(study).get(study.metrics().indexOf(metric)))
        .map(Metric::name)
        .toList();
  }

  /** A sentence for each bound that a label other than the baseline breaks. */
  List<String> broken(Summary summary, String baseline) {
    List<String> broken = new ArrayList<>();
    for (Summary.Parity parity : summary.parity()) {
      if (!parity.label().equals(baseline)) {
        quality.forEach((name, bound) -> check(parity, name, bound).ifPresent(broken::add));
      }
    }
    return broken;
  }

  private static Optional<String> check(Summary.Parity parity, String name, double bound) {
    Double value =
        switch (name) {
          case MEAN_KL -> parity.kldMean();
          case PERPLEXITY -> parity.perplexity().map(Perplexity::ratio).orElse(null);
          default -> parity.top1();
        };
    if (value == null) {
      return Optional.of("%s has no %s".formatted(parity.label(), name));
    }
    boolean from = name.equals(TOP1);
    return (from ? value >= bound : value <= bound)
        ? Optional.empty()
        : Optional.of(
            "%s of %s is %.4g, %s %.4g"
                .formatted(name, parity.label(), value, from ? "under" : "over", bound));
  }
}

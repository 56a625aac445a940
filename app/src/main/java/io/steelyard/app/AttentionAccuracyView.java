package io.steelyard.app;

import io.steelyard.engines.attention.AttentionAccuracy.Head;
import io.steelyard.engines.attention.AttentionAccuracy.Result;
import io.steelyard.reports.Chart;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.FigurePage;
import io.steelyard.reports.HeatMap;
import io.steelyard.reports.LineChart;
import io.steelyard.reports.terminal.Format;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What variants of attention lose, as tables and figures. */
record AttentionAccuracyView(AttentionAccuracyCommand.Found found) {
  /** Perplexity that changes less is drawn as if it changed so much: the axis is logarithmic. */
  private static final double LEAST_CHANGE = 1e-4;

  /** So many heat maps are enough to look at. */
  private static final int MOST_MAPS = 12;

  private List<Result> whole() {
    return found.results().stream().filter(result -> result.layer().isEmpty()).toList();
  }

  /** The table of all variants. */
  DetailTable results() {
    return new DetailTable(
        "What attention loses",
        List.of(
            "variant",
            "density",
            "executed",
            "mass",
            "perplexity",
            "ratio",
            "±",
            "mean KL",
            "top-1"),
        whole().stream()
            .map(
                result ->
                    List.of(
                        result.variant(),
                        Format.percent(result.density(), 1),
                        Format.percent(result.executed(), 1),
                        Format.percent(result.mass(), 2),
                        Format.decimals(result.perplexity(), 3),
                        Format.decimals(result.ratio(), 4),
                        Format.decimals(result.ratioError(), 4),
                        Format.scientific(result.kldMean(), 2),
                        Format.percent(result.top1(), 2)))
            .toList(),
        "Over %s tokens, each with at least half a window before it. Ratio: perplexity by that of the same model with dense attention, with its standard error over tokens. Executed: scores computed, those of choosing what is seen too."
            .formatted(Format.count(found.scored())));
  }

  /** The page of all tables and figures. */
  FigurePage page() {
    List<DetailTable> tables = new ArrayList<>(List.of(results(), layers()));
    if (whole().size() < found.results().size()) {
      tables.add(alone());
    }
    return new FigurePage(
        "What sparse attention loses: " + found.model(),
        "%s of %d tokens of the text %s"
            .formatted(Format.count(found.windows(), "window"), found.tokens(), found.text()),
        tables,
        Stream.<Chart>concat(charts().stream(), maps().stream()).toList(),
        found.command());
  }

  /** Mass and density of each layer, mean over its heads. */
  private DetailTable layers() {
    List<Result> all = whole();
    Map<Integer, List<String>> rows = new TreeMap<>();
    for (Result result : all) {
      Map<Integer, List<Head>> byLayer =
          result.heads().stream().collect(Collectors.groupingBy(Head::layer));
      byLayer.forEach(
          (layer, heads) -> {
            double density = heads.stream().mapToDouble(Head::density).average().orElseThrow();
            double mass = heads.stream().mapToDouble(Head::mass).average().orElseThrow();
            rows.computeIfAbsent(layer, l -> new ArrayList<>(List.of(Integer.toString(l))))
                .add("%s / %s".formatted(Format.percent(density, 1), Format.percent(mass, 1)));
          });
    }
    List<String> headers = new ArrayList<>(List.of("layer"));
    all.forEach(result -> headers.add(result.variant()));
    return new DetailTable(
        "By layer: density and mass",
        headers,
        List.copyOf(rows.values()),
        "Mean over heads; accuracy.json has every head.");
  }

  /** Each layer alone. */
  private DetailTable alone() {
    Map<String, List<Result>> byVariant = new LinkedHashMap<>();
    found.results().stream()
        .filter(result -> result.layer().isPresent())
        .forEach(
            result ->
                byVariant.computeIfAbsent(result.variant(), _ -> new ArrayList<>()).add(result));
    List<String> headers = new ArrayList<>(List.of("layer"));
    headers.addAll(byVariant.keySet());
    List<List<String>> rows = new ArrayList<>();
    int layers = byVariant.values().iterator().next().size();
    for (int layer = 0; layer < layers; layer++) {
      List<String> row = new ArrayList<>(List.of(Integer.toString(layer)));
      for (List<Result> results : byVariant.values()) {
        Result result = results.get(layer);
        row.add(
            "%s / %s"
                .formatted(
                    Format.decimals(result.ratio(), 4), Format.scientific(result.kldMean(), 2)));
      }
      rows.add(row);
    }
    return new DetailTable(
        "One layer alone: perplexity ratio and mean KL",
        headers,
        rows,
        "All other layers attend densely: where little is lost, more may be dropped.");
  }

  /** A line for each variant, its points by density; one point is no line. */
  private List<LineChart> charts() {
    Map<String, List<Result>> lines = new LinkedHashMap<>();
    for (Result result : whole()) {
      lines.computeIfAbsent(name(result), _ -> new ArrayList<>()).add(result);
    }
    lines.values().forEach(line -> line.sort(Comparator.comparingDouble(Result::density)));
    if (lines.isEmpty()) {
      return List.of();
    }
    String subtitle =
        "%s, windows of %d tokens, %s tokens scored"
            .formatted(found.model(), found.tokens(), Format.count(found.scored()));
    return List.of(
        new LineChart(
            "perplexity",
            "Perplexity over dense attention's, less 1, by density",
            subtitle + "; changes under 0.0001 are drawn as 0.0001",
            "density",
            lines.entrySet().stream()
                .map(
                    line ->
                        line(
                            line.getKey(),
                            line.getValue(),
                            line.getValue().stream()
                                .mapToDouble(r -> Math.max(LEAST_CHANGE, r.ratio() - 1))
                                .toArray()))
                .toList()),
        new LineChart(
            "divergence",
            "Mean KL to dense attention by density, nats",
            subtitle,
            "density",
            lines.entrySet().stream()
                .map(
                    line ->
                        line(
                            line.getKey(),
                            line.getValue(),
                            line.getValue().stream().mapToDouble(Result::kldMean).toArray()))
                .toList()));
  }

  private static LineChart.Line line(String name, List<Result> results, double[] values) {
    return new LineChart.Line(
        name, results.stream().mapToDouble(Result::density).toArray(), values);
  }

  /** A variant without how dense it is. */
  private static String name(Result result) {
    String name = result.variant().replaceAll("(?<=[:,])(ratio|density|share)=[^,]*,?", "");
    return name.replaceAll("[:,]$", "");
  }

  private List<HeatMap> maps() {
    List<HeatMap> maps = new ArrayList<>();
    List<Result> all = whole();
    for (int i = 0; i < Math.min(MOST_MAPS, all.size()); i++) {
      Result result = all.get(i);
      maps.add(
          new HeatMap(
              "mass-" + (i + 1),
              "Attention kept by layer and head, per cent: " + result.variant(),
              "%s of keys seen, %s of dense attention's weights on them"
                  .formatted(Format.percent(result.density(), 1), Format.percent(result.mass(), 1)),
              "layer",
              "head",
              shares(result)));
    }
    return maps;
  }

  private static double[][] shares(Result result) {
    int heads = 1 + result.heads().stream().mapToInt(Head::head).max().orElseThrow();
    int layers = 1 + result.heads().stream().mapToInt(Head::layer).max().orElseThrow();
    double[][] shares = new double[heads][layers];
    result.heads().forEach(head -> shares[head.head()][head.layer()] = head.mass());
    return shares;
  }
}

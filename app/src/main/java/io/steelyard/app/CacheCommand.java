package io.steelyard.app;

import io.steelyard.lab.RunException;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.study.Limits;
import io.steelyard.lab.study.Workload;
import io.steelyard.models.ModelFile;
import io.steelyard.models.architecture.ModelCost;
import io.steelyard.reports.LineChart;
import io.steelyard.reports.Plots;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.ProgressBar;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.Quantiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "generate",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Measures what the KV cache gives: generation with it against generation that computes the"
          + " whole sequence for each token, on Steelyard's own engine.",
      "",
      "The times of passes over whole sequences and over single tokens are measured beside it, and"
          + " the speed-up predicted from them. 'caching' is what a cache gives if every token has a"
          + " pass of its own; 'batching' is what that is divided by because many tokens are"
          + " processed faster together, which helps more without a cache. All measurements come"
          + " once a round, in another order each, in one process."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard bench generate",
      "  ./steelyard bench generate --prompt 16 --lengths 8,16,32 --deterministic --out runs/cache"
    })
final class CacheCommand implements Callable<Integer> {
  private static final int MOST = 1 << 17;

  @Mixin OwnEngineOptions engine;

  @Option(
      names = "--prompt",
      paramLabel = "N",
      defaultValue = "128",
      description = "tokens of the prompt")
  int prompt;

  @Option(
      names = "--lengths",
      paramLabel = "N",
      split = ",",
      defaultValue = "16,64,256",
      description = "generated tokens at which both are compared")
  List<Integer> lengths;

  @Option(names = "--rounds", paramLabel = "N", defaultValue = "3", description = "at least 2")
  int rounds;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "write the plot (SVG and PNG) and cache.json there")
  Path out;

  /**
   * What was found; printed as JSON.
   *
   * @param sameTokens whether all generations gave the same tokens
   * @param prefillSeconds of a pass over a whole sequence, by its length; medians
   * @param decodeSeconds of a pass over one token after so many
   */
  record Found(
      String machine,
      OwnEngineOptions.Setting engine,
      String kernels,
      int prompt,
      int rounds,
      boolean sameTokens,
      Map<Integer, Double> prefillSeconds,
      Map<Integer, Double> decodeSeconds,
      List<Row> rows) {}

  /**
   * What was found of a length.
   *
   * @param noneSeconds without the cache, the median of the rounds
   * @param noneOfLimit share of the roofline without the cache; null where it wasn't measured
   * @param fullOfLimit with it
   * @param speedup the geometric mean of the rounds' ratios
   * @param predicted speed-up from the rates of passes
   * @param operations multiply-and-add operations without the cache, divided by those with it
   * @param caching part of the prediction; see {@link CacheSpeedup.Prediction}
   * @param batching likewise
   */
  record Row(
      int tokens,
      double noneSeconds,
      double fullSeconds,
      Double noneOfLimit,
      Double fullOfLimit,
      double speedup,
      double low,
      double high,
      double predicted,
      double operations,
      double caching,
      double batching) {}

  /** What the process told: by mode and length the seconds of each round. */
  private record Told(
      String kernels, Map<String, NavigableMap<Integer, List<Double>>> seconds, Set<String> sums) {
    void add(String mode, int length, String nanos) {
      seconds
          .computeIfAbsent(mode, _ -> new TreeMap<>())
          .computeIfAbsent(length, _ -> new ArrayList<>())
          .add(Long.parseLong(nanos) / 1e9);
    }

    double[] of(String mode, int length) {
      return seconds.get(mode).get(length).stream().mapToDouble(Double::doubleValue).toArray();
    }

    NavigableMap<Integer, Double> medians(String mode) {
      NavigableMap<Integer, Double> medians = new TreeMap<>();
      seconds.get(mode).keySet().forEach(at -> medians.put(at, Quantiles.median(of(mode, at))));
      return medians;
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    StudyOptions.between("--prompt", prompt, 1, MOST);
    for (int length : lengths) {
      StudyOptions.between("--lengths", length, 1, MOST);
    }
    StudyOptions.between("--rounds", rounds, 2, 10_000);
    Console console = new Console();
    OwnEngineOptions.Setting setting = engine.resolve(console);
    CacheBench.Plan plan =
        new CacheBench.Plan(
            setting, prompt, rounds, engine.seed, List.copyOf(new TreeSet<>(lengths)));
    engine.checkContext(plan.capacity());
    Told told = listen(console, plan);
    Optional<Limits> limits = setting.limits();
    Found found = found(plan, told, limits);
    if (setting.deterministic() && !found.sameTokens()) {
      throw new RunException(
          "tokens with the cache and without it differ, which deterministic kernels must not let happen: please report this");
    }
    if (engine.json) {
      console.result(Json.pretty(found));
    } else {
      print(console, found, limits);
    }
    if (out != null) {
      write(console, found);
    }
    return ExitCode.FINE;
  }

  private static Told listen(Console console, CacheBench.Plan plan)
      throws IOException, InterruptedException {
    try (MeasuringProcess process =
            MeasuringProcess.start(CacheBench.class, List.of(Json.line(plan)));
        ProgressBar bar = console.bar("generating", plan.measurements(), ProgressBar.Unit.SHARE)) {
      bar.detail("warming up");
      Told told = new Told(process.next("loading the model"), new HashMap<>(), new HashSet<>());
      for (int i = 0; i < plan.measurements(); i++) {
        String[] fields = process.next("measurement " + (i + 1)).split(" ", -1);
        if (fields[0].equals("none") || fields[0].equals("full")) {
          for (int at = 0; at < plan.lengths().size(); at++) {
            told.add(fields[0], plan.lengths().get(at), fields[1 + at]);
          }
          told.sums().add(fields[fields.length - 1]);
        } else {
          told.add(fields[0], Integer.parseInt(fields[1]), fields[2]);
        }
        bar.detail("");
        bar.advance(1);
      }
      return told;
    }
  }

  private Found found(CacheBench.Plan plan, Told told, Optional<Limits> limits) {
    CacheSpeedup rates = new CacheSpeedup(told.medians("prefill"), told.medians("decode"));
    ModelCost cost;
    try (ModelFile file = ModelFile.open(plan.engine().file())) {
      cost = ModelCost.of(file);
    }
    return new Found(
        Environment.processor(),
        plan.engine(),
        told.kernels(),
        prompt,
        rounds,
        told.sums().size() == 1,
        rates.prefill(),
        rates.decode(),
        plan.lengths().stream()
            .map(length -> row(plan.engine(), limits, length, told, rates, cost))
            .toList());
  }

  private Row row(
      OwnEngineOptions.Setting setting,
      Optional<Limits> limits,
      int length,
      Told told,
      CacheSpeedup rates,
      ModelCost cost) {
    double[] none = told.of("none", length);
    double[] full = told.of("full", length);
    Interval speedup = Intervals.ratio(full, none, false, engine.seed).orElseThrow();
    CacheSpeedup.Prediction prediction = rates.predict(prompt, length);
    double noneSeconds = Quantiles.median(none);
    double fullSeconds = Quantiles.median(full);
    return new Row(
        length,
        noneSeconds,
        fullSeconds,
        setting.ofLimit(limits, uncached(length), noneSeconds),
        setting.ofLimit(limits, cached(length), fullSeconds),
        speedup.estimate(),
        speedup.low(),
        speedup.high(),
        prediction.speedup(),
        operations(cost, length),
        prediction.caching(),
        prediction.batching());
  }

  /** A pass over the whole sequence for each token. */
  private List<Workload> uncached(int tokens) {
    return IntStream.range(prompt, prompt + tokens)
        .mapToObj(length -> Workload.prefill(length, 0))
        .toList();
  }

  /** The prompt's pass, which gives the first token, and one for each of the others. */
  private List<Workload> cached(int tokens) {
    return List.of(Workload.prefill(prompt, 0), Workload.decode(tokens - 1, prompt + 1));
  }

  /** Operations without the cache divided by those with it. */
  private double operations(ModelCost cost, int tokens) {
    double none = 0;
    for (int length = prompt; length < prompt + tokens; length++) {
      none += cost.layerProducts() * (double) length + seen(cost, length) + cost.outputProducts();
    }
    int processed = prompt + tokens - 1;
    double full =
        cost.layerProducts() * (double) processed
            + seen(cost, processed)
            + (double) cost.outputProducts() * tokens;
    return none / full;
  }

  /** Operations of the attention of so many tokens, each to itself and those before it. */
  private static double seen(ModelCost cost, int tokens) {
    return cost.attentionProducts() * (tokens * (tokens + 1.0) / 2);
  }

  private static String conditions(Found found) {
    return "%s; a prompt of %d tokens, %d rounds"
        .formatted(
            found.engine().text(found.machine(), found.kernels()), found.prompt(), found.rounds());
  }

  private static void print(Console console, Found found, Optional<Limits> limits) {
    console.result(conditions(found));
    Table speeds = new Table(console.style());
    speeds.column("tokens", Align.RIGHT);
    speeds.column("without", Align.RIGHT).column("of\nlimit", Align.RIGHT);
    speeds.column("with", Align.RIGHT).column("of\nlimit", Align.RIGHT);
    speeds.column("speed-up", Align.RIGHT).column("95 %", Align.LEFT);
    speeds.column("predicted", Align.RIGHT).column("measured is", Align.RIGHT);
    Table parts = new Table(console.style());
    parts.column("tokens", Align.RIGHT).column("predicted", Align.RIGHT);
    parts.column("caching", Align.RIGHT).column("batching", Align.RIGHT);
    parts.column("operations", Align.RIGHT);
    for (Row row : found.rows()) {
      speeds.row(
          Integer.toString(row.tokens()),
          Format.significant(row.noneSeconds(), 3) + " s",
          RooflineTable.share(row.noneOfLimit()),
          Format.significant(row.fullSeconds(), 3) + " s",
          RooflineTable.share(row.fullOfLimit()),
          Format.significant(row.speedup(), 3) + "×",
          Format.significant(row.low(), 3) + " – " + Format.significant(row.high(), 3),
          Format.significant(row.predicted(), 3) + "×",
          String.format(Locale.ROOT, "%+.1f %%", 100 * (row.speedup() / row.predicted() - 1)));
      parts.row(
          Integer.toString(row.tokens()),
          Format.significant(row.predicted(), 3) + "×",
          Format.significant(row.caching(), 3) + "×",
          "÷ " + Format.significant(row.batching(), 3),
          Format.significant(row.operations(), 3) + "×");
    }
    console.table(speeds.render());
    console.blank();
    console.result("What the prediction consists of, and how many times the operations are:");
    console.table(parts.render());
    console.note(RooflineTable.measured(limits, found.engine().threads()));
    console.note(
        found.sameTokens()
            ? "Both gave the same tokens."
            : "The tokens differ: rounding depends on how many tokens a pass has; --deterministic makes them equal.");
  }

  private void write(Console console, Found found) throws IOException {
    Files.createDirectories(out);
    Files.writeString(out.resolve("cache.json"), Json.pretty(found) + "\n");
    LineChart chart =
        new LineChart(
            "cache",
            "Generation with a KV cache, times as fast as without",
            conditions(found),
            "tokens generated",
            List.of(
                line("measured", found, Row::speedup),
                line("predicted", found, Row::predicted),
                line("operations", found, Row::operations),
                line("caching alone", found, Row::caching)));
    Plots.Result plots = Plots.write(out, chart);
    plots.problems().forEach(console::note);
    console.note("Written to " + out);
  }

  private static LineChart.Line line(String name, Found found, ToDoubleFunction<Row> value) {
    return new LineChart.Line(
        name,
        found.rows().stream().mapToDouble(Row::tokens).toArray(),
        found.rows().stream().mapToDouble(value).toArray());
  }
}

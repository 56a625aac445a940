package io.steelyard.app;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tier;
import io.steelyard.lab.RunException;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.record.Json;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.ProgressBar;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.Quantiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "batch",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Measures how many tokens a second Steelyard's own engine generates for several sequences"
          + " that are processed together.",
      "",
      "Only passes that give each sequence its next token are timed, after all prompts. Every number"
          + " of sequences is measured once a round, each round in another order, in one process."
          + " tok/s is the median of the rounds with its interval; the ratio to the first number is"
          + " the geometric mean of the rounds' ratios, with its interval."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard bench batch",
      "  ./steelyard bench batch synth:llama-1b:Q8_0 --parallel 1,8 --deterministic"
    })
final class BatchCommand implements Callable<Integer> {
  private static final int MOST = 1024;

  @Parameters(
      paramLabel = "MODEL",
      arity = "0..1",
      defaultValue = "default",
      description =
          "a name of 'model list', a GGUF file, a folder with safetensors, or synth:SHAPE[:TYPE[:SEED]]")
  String model;

  @Option(
      names = "--parallel",
      paramLabel = "N",
      split = ",",
      defaultValue = "1,2,4,8,16",
      description = "sequences that are processed together")
  List<Integer> parallel;

  @Option(
      names = "--prompt",
      paramLabel = "N",
      defaultValue = "32",
      description = "tokens of each prompt")
  int prompt;

  @Option(
      names = "--gen",
      paramLabel = "N",
      defaultValue = "32",
      description = "timed tokens of each sequence in a round")
  int generate;

  @Option(names = "--rounds", paramLabel = "N", defaultValue = "10", description = "at least 6")
  int rounds;

  @Option(
      names = "--tier",
      paramLabel = "TIER",
      description = "kernels; default: the fastest that runs here")
  Tier tier;

  @Option(
      names = "--kv",
      paramLabel = "TYPE",
      defaultValue = "f16",
      description = "type of the KV caches: f16, f32 or q8_0")
  String kv;

  @Option(
      names = "--deterministic",
      description = {
        "one numeric path for every number of tokens; then the first sequence must get the same",
        "tokens in every batch, which is checked"
      })
  boolean deterministic;

  @Mixin ThreadsOption threads;

  @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = "of prompts, order")
  long seed;

  @Option(names = "--json", description = "print one JSON document on stdout instead of the table")
  boolean json;

  /**
   * What was found; printed as JSON.
   *
   * @param sameTokens whether the first sequence's tokens were the same in all measurements
   */
  record Found(
      String machine,
      int threads,
      String model,
      String kernels,
      boolean deterministic,
      String kv,
      int prompt,
      int gen,
      boolean sameTokens,
      List<Row> rows) {}

  /**
   * What was found of a number of sequences.
   *
   * @param tokensPerSecond of all together, the median of the rounds
   * @param ratio to the first number's
   * @param rounds tokens a second of each
   */
  record Row(
      int parallel,
      double tokensPerSecond,
      double low,
      double high,
      double ratio,
      double ratioLow,
      double ratioHigh,
      double millisecondsPerStep,
      List<Double> rounds) {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    int team = threads.count();
    for (int count : parallel) {
      StudyOptions.between("--parallel", count, 1, MOST);
    }
    if (Set.copyOf(parallel).size() < parallel.size()) {
      throw new UsageException("--parallel holds a number twice: give each once");
    }
    StudyOptions.between("--prompt", prompt, 1, 1 << 17);
    StudyOptions.between("--gen", generate, 1, 1 << 17);
    StudyOptions.between("--rounds", rounds, Quantiles.leastValues(0.5, Intervals.LEVEL), 10_000);
    StudyOptions.requireKvType(kv);
    Tier chosen =
        tier == null ? OwnModel.tier("bench batch", StudyOptions.parse("steelyard")) : tier;
    Console console = new Console();
    ResolvedModel resolved = Models.resolve(model, console);
    BatchBench.Plan plan =
        new BatchBench.Plan(
            resolved.file().toAbsolutePath(),
            chosen,
            team,
            deterministic,
            DataType.valueOf(kv.toUpperCase(Locale.ROOT)),
            prompt,
            generate,
            rounds,
            seed,
            parallel);
    Models.checkContext(resolved, plan.capacity());
    Found found = measure(console, plan, resolved.name());
    if (deterministic && !found.sameTokens()) {
      throw new RunException(
          "the first sequence got other tokens in one batch than in another, which deterministic kernels must not do: please report this");
    }
    if (json) {
      console.result(Json.pretty(found));
    } else {
      print(console, found);
    }
    return ExitCode.FINE;
  }

  private Found measure(Console console, BatchBench.Plan plan, String name)
      throws IOException, InterruptedException {
    Map<Integer, List<Double>> rates = new LinkedHashMap<>();
    plan.parallel().forEach(count -> rates.put(count, new ArrayList<>()));
    Set<String> sums = new HashSet<>();
    int measurements = rounds * plan.parallel().size();
    String kernels;
    try (MeasuringProcess process = MeasuringProcess.start(BatchBench.class, plan.arguments());
        ProgressBar bar = console.bar("generating", measurements, ProgressBar.Unit.SHARE)) {
      kernels = process.next("loading the model");
      for (int i = 0; i < measurements; i++) {
        String[] fields = process.next("measurement " + (i + 1)).split(" ", -1);
        int count = Integer.parseInt(fields[0]);
        rates.get(count).add(count * generate * 1e9 / Long.parseLong(fields[1]));
        sums.add(fields[2]);
        bar.advance(1);
      }
    }
    double[] first = values(rates.get(plan.parallel().getFirst()));
    List<Row> rows =
        rates.entrySet().stream().map(each -> row(each.getKey(), each.getValue(), first)).toList();
    return new Found(
        Environment.processor(),
        plan.threads(),
        name,
        kernels,
        deterministic,
        kv,
        prompt,
        generate,
        sums.size() == 1,
        rows);
  }

  private static double[] values(List<Double> rates) {
    return rates.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private Row row(int count, List<Double> rates, double[] first) {
    double[] values = values(rates);
    Interval median = Quantiles.interval(values, 0.5, Intervals.LEVEL).orElseThrow();
    Interval ratio = Intervals.ratio(values, first, true, seed).orElseThrow();
    return new Row(
        count,
        median.estimate(),
        median.low(),
        median.high(),
        ratio.estimate(),
        ratio.low(),
        ratio.high(),
        1000 * count / median.estimate(),
        rates);
  }

  private static void print(Console console, Found found) {
    console.result(
        "%s, %d threads; %s; %s%s, KV cache %s; prompts of %d tokens, %d timed"
            .formatted(
                found.machine(),
                found.threads(),
                found.model(),
                found.kernels(),
                found.deterministic() ? ", deterministic" : "",
                found.kv(),
                found.prompt(),
                found.gen()));
    Table table = new Table(console.style());
    table.column("sequences", Align.RIGHT).column("tok/s", Align.RIGHT);
    table.column("95 % of the median", Align.LEFT).column("ratio", Align.RIGHT);
    table.column("95 %", Align.LEFT).column("ms a step", Align.RIGHT);
    for (Row row : found.rows()) {
      table.row(
          Integer.toString(row.parallel()),
          Format.significant(row.tokensPerSecond(), 4),
          Format.significant(row.low(), 4) + " – " + Format.significant(row.high(), 4),
          Format.decimals(row.ratio(), 2) + "×",
          Format.decimals(row.ratioLow(), 2) + " – " + Format.decimals(row.ratioHigh(), 2),
          Format.significant(row.millisecondsPerStep(), 3));
    }
    console.table(table.render());
    console.note(
        found.sameTokens()
            ? "The first sequence got the same tokens in every batch."
            : "The first sequence's tokens differ between batches: rounding depends on how many tokens a pass has; --deterministic makes them equal.");
  }
}

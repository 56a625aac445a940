package io.steelyard.app;

import io.steelyard.lab.RunException;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.record.Json;
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
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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

  @Mixin OwnEngineOptions engine;

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

  /**
   * What was found; printed as JSON.
   *
   * @param sameTokens whether the first sequence's tokens were the same in all measurements
   */
  record Found(
      String machine,
      OwnEngineOptions.Setting engine,
      String kernels,
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
    for (int count : parallel) {
      StudyOptions.between("--parallel", count, 1, MOST);
    }
    if (Set.copyOf(parallel).size() < parallel.size()) {
      throw new UsageException("--parallel holds a number twice: give each once");
    }
    StudyOptions.between("--prompt", prompt, 1, 1 << 17);
    StudyOptions.between("--gen", generate, 1, 1 << 17);
    StudyOptions.between("--rounds", rounds, Quantiles.leastValues(0.5, Intervals.LEVEL), 10_000);
    Console console = new Console();
    OwnEngineOptions.Setting setting = engine.resolve("bench batch", console);
    BatchBench.Plan plan =
        new BatchBench.Plan(setting, prompt, generate, rounds, engine.seed, parallel);
    engine.checkContext(plan.capacity());
    Found found = measure(console, plan);
    if (setting.deterministic() && !found.sameTokens()) {
      throw new RunException(
          "the first sequence got other tokens in one batch than in another, which deterministic kernels must not do: please report this");
    }
    if (engine.json) {
      console.result(Json.pretty(found));
    } else {
      print(console, found);
    }
    return ExitCode.FINE;
  }

  private Found measure(Console console, BatchBench.Plan plan)
      throws IOException, InterruptedException {
    Map<Integer, List<Double>> rates = new LinkedHashMap<>();
    plan.parallel().forEach(count -> rates.put(count, new ArrayList<>()));
    Set<String> sums = new HashSet<>();
    int measurements = rounds * plan.parallel().size();
    String kernels;
    try (MeasuringProcess process =
            MeasuringProcess.start(BatchBench.class, List.of(Json.line(plan)));
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
        Environment.processor(), plan.engine(), kernels, prompt, generate, sums.size() == 1, rows);
  }

  private static double[] values(List<Double> rates) {
    return rates.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private Row row(int count, List<Double> rates, double[] first) {
    double[] values = values(rates);
    Interval median = Quantiles.interval(values, 0.5, Intervals.LEVEL).orElseThrow();
    Interval ratio = Intervals.ratio(values, first, true, engine.seed).orElseThrow();
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
        "%s; prompts of %d tokens, %d timed"
            .formatted(
                found.engine().text(found.machine(), found.kernels()),
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

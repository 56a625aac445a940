package io.steelyard.app;

import io.steelyard.lab.RunException;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.study.Limits;
import io.steelyard.lab.study.Workload;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.ProgressBar;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.Quantiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

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
      "  ./steelyard bench batch -m synth:llama-1b:Q8_0 --parallel 1,8 --deterministic",
      "  ./steelyard bench batch --parallel 8 --profile"
    })
final class BatchCommand implements Callable<Integer> {
  private static final int MOST = 1024;

  @Spec CommandSpec spec;

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

  @Mixin ProcessProfileOptions profile;

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
   * @param ofLimit share of the roofline; null where it wasn't measured
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
      Double ofLimit,
      List<Double> rounds) {}

  /** What the process told: the nanoseconds of each round by the number of sequences. */
  private record Told(String kernels, Map<Integer, List<Long>> nanos, Set<String> sums) {
    ProfileView.Timing timing() {
      List<Long> all = nanos.values().stream().flatMap(List::stream).toList();
      return new ProfileView.Timing(all.size(), all.stream().mapToLong(Long::longValue).sum());
    }
  }

  @Override
  public Integer call() throws Exception {
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
    OwnEngineOptions.Setting setting = engine.resolve(console);
    BatchBench.Plan plan =
        new BatchBench.Plan(
            setting, prompt, generate, rounds, engine.seed, parallel, Optional.empty());
    engine.checkContext(plan.capacity());
    if (profile.asked()) {
      profile.run(spec, folder -> profile(console, plan.profiled(folder), folder));
      return ExitCode.FINE;
    }
    Told told = listen(console, plan);
    Optional<Limits> limits = setting.limits();
    Found found = found(plan, told, limits);
    if (setting.deterministic() && !found.sameTokens()) {
      throw new RunException(
          "the first sequence got other tokens in one batch than in another, which deterministic kernels must not do: please report this");
    }
    if (engine.json) {
      console.result(Json.pretty(found));
    } else {
      print(console, found, limits);
    }
    return ExitCode.FINE;
  }

  private static Told listen(Console console, BatchBench.Plan plan)
      throws IOException, InterruptedException {
    int measurements = plan.rounds() * plan.parallel().size();
    try (MeasuringProcess process =
            MeasuringProcess.start(BatchBench.class, List.of(Json.line(plan)));
        ProgressBar bar = console.bar("generating", measurements, ProgressBar.Unit.SHARE)) {
      Told told =
          new Told(process.next("loading the model"), new LinkedHashMap<>(), new HashSet<>());
      bar.detail("warming up");
      plan.parallel().forEach(count -> told.nanos().put(count, new ArrayList<>()));
      for (int i = 0; i < measurements; i++) {
        String[] fields = process.next("measurement " + (i + 1)).split(" ", -1);
        told.nanos().get(Integer.parseInt(fields[0])).add(Long.parseLong(fields[1]));
        told.sums().add(fields[2]);
        bar.detail("");
        bar.advance(1);
      }
      process.finish();
      return told;
    }
  }

  private static void profile(Console console, BatchBench.Plan plan, Path folder)
      throws IOException, InterruptedException {
    Told told = listen(console, plan);
    String how = plan.engine().text(Environment.processor(), told.kernels());
    new ProfileView("batch", "bench batch: " + how, how, BatchBench.TIMED)
        .print(console, folder, told.timing());
  }

  private Found found(BatchBench.Plan plan, Told told, Optional<Limits> limits) {
    double[] first = rates(plan.parallel().getFirst(), told);
    return new Found(
        Environment.processor(),
        plan.engine(),
        told.kernels(),
        prompt,
        generate,
        told.sums().size() == 1,
        plan.parallel().stream()
            .map(count -> row(plan.engine(), limits, count, rates(count, told), first))
            .toList());
  }

  private double[] rates(int count, Told told) {
    return told.nanos().get(count).stream()
        .mapToDouble(nanos -> count * generate * 1e9 / nanos)
        .toArray();
  }

  private Row row(
      OwnEngineOptions.Setting setting,
      Optional<Limits> limits,
      int count,
      double[] values,
      double[] first) {
    Interval median = Quantiles.interval(values, 0.5, Intervals.LEVEL).orElseThrow();
    Interval ratio = Intervals.ratio(values, first, true, engine.seed).orElseThrow();
    // The prompt's last position gave the first token, which is the first input that is timed.
    Workload passes = new Workload(Workload.Kind.DECODE, 0, generate, prompt + 1, count);
    return new Row(
        count,
        median.estimate(),
        median.low(),
        median.high(),
        ratio.estimate(),
        ratio.low(),
        ratio.high(),
        1000 * count / median.estimate(),
        setting.ofLimit(limits, List.of(passes), passes.tokens() / median.estimate()),
        Arrays.stream(values).boxed().toList());
  }

  private static void print(Console console, Found found, Optional<Limits> limits) {
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
    table.column("of\nlimit", Align.RIGHT);
    for (Row row : found.rows()) {
      table.row(
          Integer.toString(row.parallel()),
          Format.significant(row.tokensPerSecond(), 4),
          Format.significant(row.low(), 4) + " – " + Format.significant(row.high(), 4),
          Format.decimals(row.ratio(), 2) + "×",
          Format.decimals(row.ratioLow(), 2) + " – " + Format.decimals(row.ratioHigh(), 2),
          Format.significant(row.millisecondsPerStep(), 3),
          RooflineTable.share(row.ofLimit()));
    }
    console.table(table.render());
    console.note(RooflineTable.measured(limits, found.engine().threads()));
    console.note(
        found.sameTokens()
            ? "The first sequence got the same tokens in every batch."
            : "The first sequence's tokens differ between batches: rounding depends on how many tokens a pass has; --deterministic makes them equal.");
  }
}

package io.steelyard.app;

import io.steelyard.engines.steelyard.Profiler;
import io.steelyard.kernels.ChosenTier;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.MatmulSpeed;
import io.steelyard.kernels.ProfileFile;
import io.steelyard.kernels.ProfiledKernels;
import io.steelyard.kernels.Roofline;
import io.steelyard.kernels.Tier;
import io.steelyard.kernels.codec.Repacker;
import io.steelyard.lab.environment.Environment;
import io.steelyard.models.synth.Shape;
import io.steelyard.models.synth.Synth;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.ProgressBar;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "matmul",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Measures matrix products alone: types, tiers and model shapes.",
      "",
      "The matrix is the feed-forward part's first, of the shapes that 'model synth' has. GMAC/s is"
          + " multiply-and-add operations, the median of all calls with the middle half of them;"
          + " the limit is this machine's, measured first: memory for few tokens, arithmetic for"
          + " many."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard bench matmul",
      "  ./steelyard bench matmul --type Q8_0 --shape llama-1b --tokens 1,512 --tier avx512",
      "  ./steelyard bench matmul --type Q4_K --shape llama-1b --profile"
    })
final class MatmulCommand implements Callable<Integer> {
  private static final int FEW = 16;

  @Spec CommandSpec spec;

  @Option(
      names = "--type",
      paramLabel = "TYPE",
      split = ",",
      description = "default: all types that have kernels of their own")
  List<DataType> types =
      Arrays.stream(DataType.values()).filter(type -> Repacker.target(type) == type).toList();

  @Option(
      names = "--tier",
      paramLabel = "TIER",
      split = ",",
      description = "default: all that run here but 'reference'")
  List<Tier> tiers =
      Arrays.stream(Tier.values())
          .filter(tier -> tier != Tier.REFERENCE && OwnModel.runsHere(tier))
          .toList();

  @Option(
      names = "--shape",
      paramLabel = "SHAPE",
      split = ",",
      description = "default: all that 'model synth' has but those that fill in masks")
  List<String> shapes =
      Synth.shapes().stream()
          .filter(shape -> !shape.architecture().equals(Synth.DREAM))
          .map(Shape::name)
          .toList();

  @Option(
      names = "--tokens",
      paramLabel = "N",
      split = ",",
      defaultValue = "1,4,512",
      description = "tokens of a product")
  List<Integer> tokens;

  @Mixin ThreadsOption threads;

  @Option(
      names = "--millis",
      paramLabel = "MS",
      defaultValue = "200",
      description = "how long each product is repeated")
  int millis;

  @Mixin ProcessProfileOptions profile;

  private record Row(String shape, MatmulBench.Case of) {}

  /** All products of a shape; a type needs rows that are whole blocks. */
  private Stream<Row> rows(String name) {
    Shape shape = Synth.shapeOf(name);
    return types.stream()
        .filter(type -> shape.hidden() % type.blockSize() == 0)
        .flatMap(
            type ->
                tokens.stream()
                    .flatMap(
                        count ->
                            tiers.stream()
                                .map(
                                    tier ->
                                        new MatmulBench.Case(
                                            tier,
                                            type,
                                            shape.feedForward(),
                                            shape.hidden(),
                                            count))))
        .map(of -> new Row(name, of));
  }

  @Override
  public Integer call() throws Exception {
    int team = threads.count();
    StudyOptions.between("--millis", millis, 1, 60_000);
    for (int count : tokens) {
      StudyOptions.between("--tokens", count, 1, 4096);
    }
    tiers.forEach(OwnModel::requireHere);
    if (profile.asked()) {
      tiers = List.of(profiledTier());
    } else if (!namesTiers()) {
      OwnModel.tell(ChosenTier.withVectors());
    }
    List<Row> rows = shapes.stream().flatMap(this::rows).toList();
    if (rows.isEmpty()) {
      throw new UsageException(
          "no --shape has rows that are whole blocks of any --type: %s have %s values, and %s"
              .formatted(
                  String.join(", ", shapes),
                  shapes.stream()
                      .map(name -> Integer.toString(Synth.shapeOf(name).hidden()))
                      .collect(Collectors.joining(", ")),
                  types.stream()
                      .map(type -> "a block of %s %d".formatted(type, type.blockSize()))
                      .collect(Collectors.joining(", "))));
    }
    Console console = new Console();
    if (profile.asked()) {
      profile.run(spec, folder -> profile(console, team, rows, folder));
      return ExitCode.FINE;
    }
    console.note("Measuring this machine's limits, then %d products".formatted(rows.size()));
    Roofline limits = Roofline.measure(team);
    console.result(RooflineTable.text(limits));
    console.blank();
    Table table = new Table(console.style());
    table.column("shape", Align.LEFT).column("type", Align.LEFT).column("tokens", Align.RIGHT);
    table.column("tier", Align.LEFT).column("GMAC/s", Align.RIGHT).column("half", Align.LEFT);
    table.column("GB/s", Align.RIGHT).column("of limit", Align.RIGHT);
    measure(console, team, rows, Optional.empty(), (row, nanos) -> add(table, row, nanos, limits));
    console.table(table.render());
    return ExitCode.FINE;
  }

  private boolean namesTiers() {
    return spec.commandLine().getParseResult().hasMatchedOption("--tier");
  }

  /** A profile is of one tier's kernels: the fastest's, where none is asked for. */
  private Tier profiledTier() {
    if (!namesTiers()) {
      return OwnModel.usualTier();
    }
    if (tiers.size() > 1) {
      throw new UsageException("--profile takes one --tier, not " + tiers.size());
    }
    return tiers.getFirst();
  }

  private void profile(Console console, int team, List<Row> rows, Path folder)
      throws IOException, InterruptedException {
    measure(console, team, rows, Optional.of(folder), (_, _) -> {});
    List<ProfiledKernels.Line> lines = ProfileFile.read(folder.resolve(Profiler.OPERATORS));
    String how =
        "%s, %s, %s"
            .formatted(
                Environment.processor(), Format.count(team, "thread"), tiers.getFirst().label());
    new ProfileView(
            "matmul",
            "bench matmul on " + how,
            how,
            new ProfileGraph.Timed(MatmulSpeed.class, "measure"))
        .print(
            console,
            folder,
            new ProfileView.Timing(
                lines.stream().mapToLong(ProfiledKernels.Line::calls).sum(),
                lines.stream().mapToLong(ProfiledKernels.Line::nanos).sum()));
  }

  private void measure(
      Console console,
      int team,
      List<Row> rows,
      Optional<Path> profile,
      BiConsumer<Row, long[]> taker)
      throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>();
    arguments.add(Integer.toString(team));
    arguments.add(Integer.toString(millis));
    arguments.add(profile.map(Path::toString).orElse(""));
    rows.forEach(row -> arguments.add(row.of().text()));
    try (MeasuringProcess process = MeasuringProcess.start(MatmulBench.class, arguments);
        ProgressBar bar = console.bar("multiplying", rows.size(), ProgressBar.Unit.SHARE)) {
      for (Row row : rows) {
        String line = process.next(row.of().toString());
        taker.accept(row, Arrays.stream(line.split(" ")).mapToLong(Long::parseLong).toArray());
        bar.advance(1);
      }
      process.finish();
    }
  }

  private static void add(Table table, Row row, long[] nanos, Roofline limits) {
    Arrays.sort(nanos);
    MatmulBench.Case of = row.of();
    double median = nanos[nanos.length / 2];
    double rate = of.products() / median;
    double bytes = of.bytes() / median;
    String limitName = limits.bound(Roofline.limit(of.type()), of.tier() == Tier.AMX);
    double share =
        of.tokens() <= FEW
            ? bytes * 1e9 / limits.readBytesPerSecond()
            : rate * 1e9 / limits.productsPerSecond().getOrDefault(limitName, Double.NaN);
    table.row(
        row.shape(),
        of.type().name(),
        Integer.toString(of.tokens()),
        of.tier().label(),
        number(rate),
        number(of.products() / (double) nanos[nanos.length * 3 / 4])
            + " – "
            + number(of.products() / (double) nanos[nanos.length / 4]),
        number(bytes),
        Double.isNaN(share)
            ? "–"
            : String.format(
                Locale.ROOT, "%.0f %% %s", 100 * share, of.tokens() <= FEW ? "memory" : limitName));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.0f", value);
  }
}

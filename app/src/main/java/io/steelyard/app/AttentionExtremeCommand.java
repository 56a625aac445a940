package io.steelyard.app;

import io.steelyard.app.ExtremeClimb.Limits;
import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.lab.RunException;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.Plots;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Terminal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "extreme",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Finds how far each variant of attention goes under a limit of memory and of time.",
      "",
      "Lengths double. Before each, memory and time are predicted, by the variant's own account and"
          + " by what was measured at shorter lengths; it is tried only if both are within the"
          + " limits, so that none is reached by a crash. Every length is a run of its own, proved"
          + " and measured as 'attention range' does. --simulate tells what many more tokens would"
          + " take over many machines like this one; all of that is predicted."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard attention extreme --variants flash,improved-dilated --time 5s",
      "  ./steelyard attention extreme --memory 4G --max 4M --budget 20m",
      "  ./steelyard attention extreme --max 16K --simulate 1B --ranks 1024 --network 400Gbit"
    })
final class AttentionExtremeCommand implements Callable<Integer> {
  private static final String PLAN = "extreme-plan.json";
  private static final long MOST_RANKS = 1_000_000_000;
  private static final long BILLION = 1_000_000_000;

  /** 100 Gbit/s, which is assumed and said to be. */
  private static final long USUAL_NETWORK = 12_500_000_000L;

  @Spec CommandSpec spec;

  @Option(
      names = "--from",
      paramLabel = "N",
      defaultValue = "4K",
      description = "the first length, such as 1000 or 4K")
  String from;

  @Option(
      names = "--max",
      paramLabel = "N",
      defaultValue = "1M",
      description = "the longest length")
  String most;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      converter = Sizes.Bytes.class,
      description =
          "for inputs, results and scratch memory, such as 500M, 4G or 4Gi (default: what is free)")
  Long memory;

  @Option(
      names = "--time",
      paramLabel = "TIME",
      converter = Converters.Seconds.class,
      defaultValue = "60s",
      description = "how long one pass may take")
  double time;

  @Option(
      names = "--budget",
      paramLabel = "TIME",
      converter = Converters.Seconds.class,
      defaultValue = "5m",
      description = "how long everything may take")
  double budget;

  @Option(
      names = "--forks",
      paramLabel = "N",
      defaultValue = "1",
      description = "fresh processes of each variant at each length; from 2 on there are intervals")
  int forks;

  @Option(
      names = "--simulate",
      paramLabel = "N",
      description =
          "predict, beside what is measured, so many tokens over ranks, such as 64M or 1B (10⁹)")
  String simulate;

  @Option(
      names = "--ranks",
      paramLabel = "R",
      description =
          "with --simulate: how many machines like this one (default: the fewest, by powers of two,"
              + " with which each variant fits into the memory)")
  Long ranks;

  @Option(
      names = "--network",
      paramLabel = "SPEED",
      converter = Sizes.BytesPerSecond.class,
      description =
          "with --simulate: what each rank can send, such as 25Gbit (default: 100Gbit, assumed)")
  Long network;

  @Option(
      names = "--runs",
      paramLabel = "DIR",
      defaultValue = "runs",
      description = "where the folder of the runs is made")
  Path runs;

  @Option(
      names = "--into",
      paramLabel = "DIR",
      description = "the folder itself: the same command goes on with what is in it")
  Path into;

  @Option(names = "--json", description = "print one JSON document on stdout instead of tables")
  boolean json;

  @Mixin AttentionOptions attention;

  /** What two calls must have in common for one to go on with the other's runs. */
  private record Kept(AttentionProblem problem, List<String> variants, int from, int forks) {}

  @Override
  public Integer call() throws Exception {
    AttentionProblem problem = attention.problem();
    List<String> variants = attention.spellings();
    Console console = new Console();
    Limits limits = limits(problem, console);
    long simulated = simulated(problem, variants);
    Path folder = folder(new Kept(problem, variants, limits.from(), forks));
    console.note(
        "attention extreme into %s (if interrupted, the same command goes on with --into %s)"
            .formatted(folder, folder));
    AtomicBoolean stopping = new AtomicBoolean();
    Writer writer = new Writer(problem, limits, simulated, folder);
    // The lab talks to the person only: results are printed here.
    Console lab = new Console(Terminal.err(), Terminal.err());
    ExtremeClimb climb =
        new ExtremeClimb(
            problem, variants, limits, writer.command, folder, lab, stopping, writer::write);
    writer.climb = climb;
    Thread hook =
        new Thread(
            () -> {
              stopping.set(true);
              print(console, writer.report(), folder);
              console.note(ExtremeReport.stopped(folder).getMessage());
            });
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      climb.run();
    } finally {
      if (!stopping.get()) {
        Runtime.getRuntime().removeShutdownHook(hook);
      }
    }
    print(console, writer.report(), folder);
    writer.problems.forEach(console::note);
    return climb.code();
  }

  private Limits limits(AttentionProblem problem, Console console) {
    int first = AttentionOptions.asked(() -> AttentionProblem.length(from));
    int last = AttentionOptions.asked(() -> AttentionProblem.length(most));
    if (last < first) {
      throw new UsageException("--max %s is shorter than --from %s".formatted(most, from));
    }
    StudyOptions.between("--forks", forks, 1, 100);
    var _ = AttentionOptions.shape(problem, last);
    long free = AttentionStudy.freeMemory();
    if (memory != null && memory > free) {
      console.note(
          "--memory %s is more than is free: the limit is %s"
              .formatted(Format.bytes(memory), Format.bytes(free)));
    }
    long bytes = memory == null ? free : Math.min(memory, free);
    return new Limits(bytes, time, first, last, budget, forks);
  }

  /**
   * The length to simulate, checked as far as that goes before anything is measured; 0 for none.
   */
  private long simulated(AttentionProblem problem, List<String> variants) {
    if (simulate == null) {
      if (ranks != null || network != null) {
        throw new UsageException(
            (ranks != null ? "--ranks" : "--network") + " is for --simulate alone");
      }
      return 0;
    }
    long length = simulatedLength();
    if (ranks != null) {
      StudyOptions.between("--ranks", ranks, 1, Math.min(length, MOST_RANKS));
    }
    for (String variant : variants) {
      var _ = ExtremeSimulation.plan(problem, variant, length, ranks == null ? 1 : ranks);
    }
    return length;
  }

  private long simulatedLength() {
    if (!simulate.matches("[0-9]{1,6}[Bb]")) {
      return AttentionOptions.asked(() -> AttentionProblem.length(simulate));
    }
    long billions = Long.parseLong(simulate.substring(0, simulate.length() - 1));
    if (billions == 0) {
      throw new UsageException("--simulate 0B is no length");
    }
    return billions * BILLION;
  }

  /** A folder holds one climb: another problem's runs can't stand in it. */
  private Path folder(Kept kept) throws IOException {
    Path folder = into == null ? RunDirectory.newFolder(runs, "attention-extreme") : into;
    Path file = folder.resolve(PLAN);
    String text = Json.pretty(kept) + "\n";
    if (Files.notExists(file)) {
      Files.createDirectories(folder);
      Files.writeString(file, text);
    } else if (!Files.readString(file).equals(text)) {
      throw new RunException(
          "%s holds runs of other variants, another problem or another first length (see its %s): name another folder with --into"
              .formatted(folder, PLAN));
    }
    return folder;
  }

  private void print(Console console, ExtremeReport report, Path folder) {
    if (json) {
      console.result(Json.pretty(report));
      return;
    }
    console.result(report.title());
    console.blank();
    for (DetailTable table : report.tables()) {
      console.table(table.render(console.style()));
      console.blank();
    }
    console.result("Report: " + folder.resolve(ExtremeReport.FILE + ".md"));
  }

  /** Keeps the folder's report as far as the climb has got. */
  private final class Writer {
    private final AttentionProblem problem;
    private final Limits limits;
    private final long simulated;
    private final Path folder;
    private final String command = CommandText.of(spec);
    private ExtremeClimb climb;
    private List<String> problems = List.of();

    Writer(AttentionProblem problem, Limits limits, long simulated, Path folder) {
      this.problem = problem;
      this.limits = limits;
      this.simulated = simulated;
      this.folder = folder;
    }

    ExtremeReport report() {
      List<ExtremeClimb.Reach> reached = climb.reached();
      boolean measured = reached.stream().anyMatch(reach -> reach.reached() > 0);
      return new ExtremeReport(
          problem.title(),
          command,
          limits,
          reached,
          simulated == 0 || !measured
              ? Optional.empty()
              : Optional.of(
                  ExtremeSimulation.of(
                      problem,
                      reached,
                      simulated,
                      ranks == null ? 0 : ranks,
                      limits.bytes(),
                      network == null ? USUAL_NETWORK : network,
                      climb::scores)));
    }

    void write() {
      ExtremeReport report = report();
      try {
        Files.writeString(folder.resolve(ExtremeReport.FILE + ".json"), Json.pretty(report) + "\n");
        Plots.Result written = report.page().write(folder, ExtremeReport.FILE);
        problems = written.problems();
      } catch (IOException e) {
        throw new UncheckedIOException("can't write the report into " + folder, e);
      }
    }
  }
}

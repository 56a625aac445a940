package io.steelyard.lab.run;

import io.steelyard.lab.RunException;
import io.steelyard.lab.RunListener;
import io.steelyard.lab.TemporaryFolder;
import io.steelyard.lab.parity.EngineParity;
import io.steelyard.lab.parity.FairnessSheet;
import io.steelyard.lab.parity.GeneratedTexts;
import io.steelyard.lab.parity.Oracle;
import io.steelyard.lab.parity.ParityJudge;
import io.steelyard.lab.parity.ParityRun;
import io.steelyard.lab.parity.QualityRun;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.Workers;
import io.steelyard.stats.WarmUp;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * A study from its plan to its summary: oracle, parity, fairness, blocks, verdicts. The same call
 * begins a run and goes on with one that was interrupted.
 */
public final class StudyRun {

  /** The file with a list of {@link io.steelyard.lab.record.Generated}. */
  public static final String GENERATED = "generated.json";

  private static final String QUALITY = "quality.json";

  private final RunDirectory directory;
  private final Study study;
  private final EngineRegistry registry;
  private final Path cache;
  private final RunListener listener;

  /**
   * @param cache the cache's root, for the oracle's and parity's results
   */
  public StudyRun(
      RunDirectory directory, EngineRegistry registry, Path cache, RunListener listener) {
    this.directory = directory;
    this.study = directory.plan();
    this.registry = registry;
    this.cache = cache;
    this.listener = listener;
  }

  /**
   * What came of it.
   *
   * @param summary what was found
   * @param otherwise the summary with the trials far out dropped where they count, and the other
   *     way round
   * @param blocks the raw samples by block
   * @param differing labels that compute something else than the oracle
   * @param broken a sentence for each label that could not be judged (it didn't start, died,
   *     refused an option) and for each cell that failed although its label passed parity
   */
  public record Outcome(
      Summary summary,
      Summary otherwise,
      Blocks blocks,
      List<String> differing,
      List<String> broken) {
    public Outcome {
      differing = List.copyOf(differing);
      broken = List.copyOf(broken);
    }

    /**
     * Of what was measured; writes the summary into the run's directory.
     *
     * @param unmeasured why labels were not measured that compute what they should
     */
    static Outcome of(
        RunDirectory directory,
        Study study,
        Summariser summariser,
        List<Entry> measured,
        List<String> differing,
        List<String> unmeasured) {
      Summary summary = summariser.summarise(directory.name());
      directory.writeSummary(summary);
      Summary otherwise = summariser.outliersOtherwise().summarise(directory.name());
      Blocks blocks = Blocks.of(measured);
      List<String> broken = new ArrayList<>(unmeasured);
      for (Cell cell : study.cells()) {
        if (!blocks.failures(cell).isEmpty()) {
          // A command has one workload, which says nothing.
          boolean command = cell.workload().kind() == Workload.Kind.COMMAND;
          String name = command ? cell.label() : cell.id();
          broken.add(name + " failed: " + String.join("; ", blocks.failures(cell)));
        }
      }
      return new Outcome(summary, otherwise, blocks, differing, broken);
    }

    /** Whether every label passed parity. */
    public boolean parity() {
      return summary.parity().stream().allMatch(Summary.Parity::pass);
    }
  }

  /** Proves parity, then measures the labels that passed. */
  public Outcome run() throws WorkerException {
    try (TemporaryFolder scratch = TemporaryFolder.make()) {
      return run(
          new Workers(
              study.model(), study.settings(), registry, directory::stderr, scratch.path()));
    }
  }

  private Outcome run(Workers workers) throws WorkerException {
    Oracle oracle = Oracle.of(study, workers, cache, listener);
    Map<String, EngineParity> engines = new LinkedHashMap<>();
    Map<String, String> unjudged = new LinkedHashMap<>();
    List<Summary.Parity> judged = judge(workers, oracle, engines, unjudged);
    List<Summary.FairnessLine> fairness = FairnessSheet.of(study, List.copyOf(engines.values()));
    directory.write("parity.json", Json.pretty(judged));
    directory.write("engines.json", Json.pretty(measured(engines)));
    directory.write(GENERATED, Json.pretty(GeneratedTexts.of(study, engines)));

    Map<String, EngineParity> passed = new LinkedHashMap<>(engines);
    judged.stream().filter(p -> !p.pass()).forEach(p -> passed.remove(p.label()));
    boolean comparable =
        study.baseline().isEmpty()
            ? !passed.isEmpty()
            : passed.containsKey(study.baseline())
                && (passed.size() > 1 || study.engines().size() == 1);
    List<Entry> measured = List.of();
    BlockPlan plan = new BlockPlan(comparable ? forkSeconds(passed) : 0);
    List<Summary.Quality> quality = comparable ? quality(workers, passed) : List.of();
    Function<List<Entry>, Summariser> summariser =
        entries -> new Summariser(study, engines, judged, fairness, entries).telling(quality);
    if (comparable) {
      try (Journal journal = Journal.open(directory.journalFile())) {
        listener.note(plan.expectation(study));
        new BlockLoop(
                study,
                workers,
                journal,
                passed.keySet(),
                new ForkRunner(study, workers, oracle.prompts(study), journal, passed),
                Look.atFirst(study, passed),
                entries -> Look.at(study, summariser.apply(entries).summarise(""), entries),
                listener)
            .run();
        measured = journal.entries();
      }
    }
    List<String> differing = new ArrayList<>(study.engines().keySet());
    differing.removeAll(passed.keySet());
    differing.removeAll(unjudged.keySet());
    List<String> broken = new ArrayList<>();
    unjudged.forEach((label, why) -> broken.add(label + " could not be judged: " + why));
    return Outcome.of(directory, study, summariser.apply(measured), measured, differing, broken);
  }

  /** What precisions have lost, once for a run; nothing where they aren't what is compared. */
  private List<Summary.Quality> quality(Workers workers, Map<String, EngineParity> passed)
      throws WorkerException {
    if (study.precisions().isEmpty() || !passed.containsKey(study.precisions().get().source())) {
      return List.of();
    }
    if (Files.exists(directory.path().resolve(QUALITY))) {
      return List.of(directory.read(QUALITY, Summary.Quality[].class));
    }
    List<Summary.Quality> quality = new QualityRun(study, workers, listener).of(passed);
    directory.write(QUALITY, Json.pretty(quality));
    return quality;
  }

  /** What {@code engines.json} says of a label. */
  private record Measured(
      EngineInfo engine, LoadReport.Settings settings, List<EngineInfo.NativeLibrary> libraries) {}

  private static Map<String, Measured> measured(Map<String, EngineParity> engines) {
    Map<String, Measured> measured = new LinkedHashMap<>();
    engines.forEach(
        (label, engine) ->
            measured.put(
                label, new Measured(engine.info(), engine.settings(), engine.libraries())));
    return measured;
  }

  /**
   * Runs parity for every label and judges each. What stops one label stops no other.
   *
   * @param engines takes what the labels did, of those that got through
   * @param broken takes why the others didn't
   */
  private List<Summary.Parity> judge(
      Workers workers,
      Oracle oracle,
      Map<String, EngineParity> engines,
      Map<String, String> broken) {
    int done = 0;
    for (String label : study.engines().keySet()) {
      RunListener part = listener.part(done++, study.engines().size());
      try {
        engines.put(label, new ParityRun(study, workers, oracle, cache, part).of(label));
      } catch (WorkerException | RunException e) {
        broken.put(label, e.getMessage());
      }
    }
    ParityJudge judge = new ParityJudge(study, oracle);
    List<Summary.Parity> judged = new ArrayList<>();
    for (String label : study.engines().keySet()) {
      EngineParity engine = engines.get(label);
      judged.add(
          engine == null
              ? broken(label, broken.get(label))
              : judge.judge(engine, engines.getOrDefault(study.baseline(), engine)));
    }
    return judged;
  }

  private Summary.Parity broken(String label, String why) {
    return new Summary.Parity(
        label,
        study.model().name(),
        "",
        false,
        null,
        null,
        null,
        null,
        Optional.empty(),
        null,
        false,
        why);
  }

  /** How long the processes of a block will take, from what each call took in the parity run. */
  private double forkSeconds(Map<String, EngineParity> engines) {
    double seconds = 0;
    int calls = WarmUp.LEAST_ITERATIONS + 1 + study.design().trials();
    for (Cell cell : study.cells()) {
      EngineParity engine = engines.get(cell.label());
      if (engine != null) {
        boolean start = cell.workload().kind() == Workload.Kind.START;
        double work =
            start
                ? engine.estimates().values().stream().mapToLong(Long::longValue).sum()
                : (double) calls * engine.estimates().get(cell.workload().name());
        seconds += (engine.startNanos() + work) / 1e9;
      }
    }
    return seconds;
  }
}

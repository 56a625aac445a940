package io.steelyard.lab.run;

import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.parity.EngineParity;
import io.steelyard.lab.parity.FairnessSheet;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Limits;
import io.steelyard.lab.study.Study;
import io.steelyard.stats.FamilyVerdicts;
import io.steelyard.stats.FarOutliers;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.RequiredForks;
import io.steelyard.stats.Sample;
import io.steelyard.stats.SequentialPlan;
import io.steelyard.stats.Shape;
import io.steelyard.stats.Verdict;
import io.steelyard.stats.WarmUp;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Derives {@code summary.json} from the plan, the parity results and the journal. */
public final class Summariser {
  /** A coefficient of variation over this is said. */
  private static final double NOISY = 0.10;

  private static final MathContext DIGITS = new MathContext(3);

  /** More forks than this are not proposed. */
  private static final int MOST_FORKS = 200;

  private final Study study;
  private final Map<String, EngineParity> engines;
  private final List<Summary.Parity> parity;
  private final List<Summary.FairnessLine> fairness;
  private final List<Entry> journal;
  private final Blocks blocks;
  private final List<Summary.Quality> quality;

  /**
   * @param engines by label, of all that could be loaded
   * @param parity what was judged of each label
   */
  public Summariser(
      Study study,
      Map<String, EngineParity> engines,
      List<Summary.Parity> parity,
      List<Summary.FairnessLine> fairness,
      List<Entry> journal) {
    this(study, engines, parity, fairness, journal, List.of());
  }

  private Summariser(
      Study study,
      Map<String, EngineParity> engines,
      List<Summary.Parity> parity,
      List<Summary.FairnessLine> fairness,
      List<Entry> journal,
      List<Summary.Quality> quality) {
    this.study = study;
    this.engines = engines;
    this.parity = parity;
    this.fairness = fairness;
    this.journal = List.copyOf(journal);
    this.blocks = Blocks.of(journal);
    this.quality = List.copyOf(quality);
  }

  /** The same that tells what precisions have lost, too. */
  public Summariser telling(List<Summary.Quality> lost) {
    return new Summariser(study, engines, parity, fairness, journal, lost);
  }

  /** The same that drops the trials far out where this one counts them, and the other way round. */
  public Summariser outliersOtherwise() {
    boolean drops = study.design().dropsOutliers();
    Study other = study.toBuilder().design(study.design().droppingOutliers(!drops)).build();
    return new Summariser(other, engines, parity, fairness, journal, quality);
  }

  /** The summary of the run so far. */
  public Summary summarise(String run) {
    List<Summary.Cell> cells = new ArrayList<>();
    List<Draft> drafts = new ArrayList<>();
    List<Metric> metrics = Metric.of(study);
    for (int i = 0; i < metrics.size(); i++) {
      double margin = study.design().margin(study.metrics().get(i));
      for (String label : study.engines().keySet()) {
        if (study.leavesOut(new Cell(label, metrics.get(i).workload()))) {
          continue;
        }
        cells.add(cell(label, metrics.get(i)));
        if (!study.baseline().isEmpty() && !label.equals(study.baseline())) {
          drafts.add(draft(label, metrics.get(i), margin));
        }
      }
    }
    return new Summary(
        Summary.SCHEMA,
        run,
        study.model().name(),
        study.model().random() ? "random" : "real",
        cells,
        comparisons(drafts),
        parity,
        fairness,
        quality.isEmpty() ? Optional.empty() : Optional.of(quality));
  }

  private Summary.Cell cell(String label, Metric metric) {
    Cell cell = new Cell(label, metric.workload());
    SortedMap<Integer, ForkRecord> sound = blocks.sound(cell);
    List<ForkRecord> forks = List.copyOf(sound.values());
    boolean failed = forks.isEmpty() || !blocks.failures(cell).isEmpty();
    boolean steady = forks.stream().allMatch(fork -> fork.end().settled());
    Optional<Sample> sample =
        forks.isEmpty() ? Optional.empty() : Optional.of(counted(metric.sample(forks)));
    Optional<Interval> interval =
        sample.flatMap(
            s ->
                Intervals.mean(s, levelAt(sound.keySet(), Intervals.LEVEL), study.design().seed()));
    return new Summary.Cell(
        label,
        study.engines().get(label).name(),
        study.model().name(),
        precision(label),
        metric.name(),
        metric.unit(),
        metric.higherIsBetter() ? "higher" : "lower",
        sample.map(Sample::mean).orElse(null),
        sample.map(Sample::median).orElse(null),
        sample.filter(s -> s.forks() > 1).map(Sample::sd).orElse(null),
        sample.map(Sample::min).orElse(null),
        sample.map(Sample::max).orElse(null),
        interval.map(Interval::low).orElse(null),
        interval.map(Interval::high).orElse(null),
        forks.size(),
        sample.map(Sample::trials).orElse(0),
        failed ? "failed" : steady ? "steady" : "no steady state",
        blocks.repeated(),
        failed ? null : share(label, metric, sample.orElseThrow()));
  }

  private Sample counted(Sample all) {
    return study.design().dropsOutliers() ? FarOutliers.drop(all) : all;
  }

  /** Null where it is not known what the label could do at best. */
  private Double share(String label, Metric metric, Sample sample) {
    EngineParity engine = engines.get(label);
    if (engine == null || study.limits().isEmpty()) {
      return null;
    }
    Limits limits = study.limits().get();
    if (engine.settings().threads() != limits.threads()) {
      return null;
    }
    OptionalDouble share = limits.share(metric.workload(), engine.settings().kv(), sample.mean());
    return share.isPresent() ? share.getAsDouble() : null;
  }

  /**
   * A comparison before its verdict, which depends on the others of the run.
   *
   * @param margin the change that matters
   * @param ratio of the two sides' samples; empty where there is none
   */
  private record Draft(
      String label,
      Metric metric,
      double margin,
      Optional<FamilyVerdicts.Ratio> ratio,
      int blocks,
      List<String> obstacles,
      List<String> notes) {

    Optional<Interval> interval(double level) {
      return ratio.flatMap(r -> r.interval(level));
    }
  }

  private List<Summary.Comparison> comparisons(List<Draft> drafts) {
    List<Draft> judged =
        drafts.stream()
            .filter(draft -> draft.obstacles().isEmpty() && draft.ratio().isPresent())
            .toList();
    List<Verdict> verdicts =
        FamilyVerdicts.of(
            judged.stream().map(draft -> draft.ratio().orElseThrow()).toList(),
            judged.stream().map(Draft::margin).toList());
    return drafts.stream()
        .map(
            draft -> {
              int index = judged.indexOf(draft);
              Verdict otherwise =
                  draft.obstacles().isEmpty() ? Verdict.INCONCLUSIVE : Verdict.NOT_COMPARABLE;
              return comparison(draft, index < 0 ? otherwise : verdicts.get(index), judged.size());
            })
        .toList();
  }

  private Draft draft(String label, Metric metric, double margin) {
    Cell subject = new Cell(label, metric.workload());
    Cell baseline = new Cell(study.baseline(), metric.workload());
    Blocks.Pairs pairs = blocks.pairs(subject, baseline);

    List<String> notes = new ArrayList<>();
    List<String> obstacles = obstacles(label);
    for (Cell cell : List.of(subject, baseline)) {
      if (blocks.failures(cell).isEmpty()) {
        noteFailedTries(cell, notes);
      } else {
        obstacles.add(cell.label() + " failed: " + String.join("; ", blocks.failures(cell)));
      }
    }
    noteUnsettled(label, pairs.subject(), notes);
    noteUnsettled(study.baseline(), pairs.baseline(), notes);
    noteDisturbed(pairs.blocks(), notes);
    Optional<FamilyVerdicts.Ratio> ratio = Optional.empty();
    List<Integer> numbers = List.copyOf(pairs.blocks());
    Optional<FarOutliers.Pair> samples = counted(metric, pairs);
    if (samples.isPresent()) {
      Sample a = samples.get().subject();
      Sample b = samples.get().baseline();
      numbers = samples.get().kept().stream().map(numbers::get).toList();
      if (a.min() > 0 && b.min() > 0) {
        boolean higher = metric.higherIsBetter();
        long seed = study.design().seed();
        List<Integer> kept = numbers;
        ratio = Optional.of(level -> Intervals.ratio(a, b, higher, levelAt(kept, level), seed));
      } else {
        obstacles.add("there is no ratio of values that are not above 0");
      }
      noteVariation(label, a, notes);
      noteVariation(study.baseline(), b, notes);
      noteShape(label, a, notes);
      noteShape(study.baseline(), b, notes);
    }
    if (margin != study.design().margin()) {
      notes.add(
          "judged by a margin of %s %%"
              .formatted(
                  BigDecimal.valueOf(100 * margin)
                      .round(DIGITS)
                      .stripTrailingZeros()
                      .toPlainString()));
    }
    return new Draft(label, metric, margin, ratio, numbers.size(), obstacles, notes);
  }

  /** The samples that count; empty where there are none. */
  private Optional<FarOutliers.Pair> counted(Metric metric, Blocks.Pairs pairs) {
    if (pairs.blocks().isEmpty()) {
      return Optional.empty();
    }
    Sample subject = metric.sample(pairs.subject());
    Sample baseline = metric.sample(pairs.baseline());
    return study.design().dropsOutliers()
        ? FarOutliers.drop(subject, baseline)
        : Optional.of(FarOutliers.Pair.all(subject, baseline));
  }

  /**
   * The level of an interval over these blocks, such that those of all the looks that an adaptive
   * run takes hold together at the level asked for.
   *
   * @param numbers of the blocks, rising
   */
  private double levelAt(Collection<Integer> numbers, double together) {
    if (study.design().adaptive().isEmpty()) {
      return together;
    }
    // The last block of all is the last look, whatever of the budget is left.
    List<Double> spent =
        numbers.stream()
            .map(n -> Math.max(blocks.spentShare(n), (double) n / study.design().forks()))
            .toList();
    int looks = Math.max(1, numbers.size() - Study.Design.LEAST_FORKS + 1);
    return spent.isEmpty()
        ? together
        : SequentialPlan.spending(
                Study.Design.LEAST_FORKS,
                spent.subList(spent.size() - looks, spent.size()),
                together)
            .lastLevel();
  }

  /**
   * A comparison with its verdict.
   *
   * @param together how many ratios were judged together
   */
  private Summary.Comparison comparison(Draft draft, Verdict verdict, int together) {
    Optional<Interval> interval = draft.interval(Intervals.LEVEL);
    List<String> said = new ArrayList<>(draft.obstacles());
    if (verdict == Verdict.INCONCLUSIVE) {
      said.add(settling(draft, interval, together));
    }
    said.addAll(draft.notes());
    return new Summary.Comparison(
        draft.metric().name(),
        draft.label(),
        study.baseline(),
        study.model().name(),
        precision(draft.label()),
        interval.map(Interval::estimate).orElse(null),
        interval.map(Interval::low).orElse(null),
        interval.map(Interval::high).orElse(null),
        verdict.label(),
        draft.blocks(),
        String.join("; ", said));
  }

  /** A process that failed and was followed by a good one is no sample, yet it is told. */
  private void noteFailedTries(Cell cell, List<String> notes) {
    List<Entry.ForkEnd> ends = blocks.ends(cell);
    List<Entry.ForkEnd> failed = ends.stream().filter(end -> !end.failure().isEmpty()).toList();
    if (!failed.isEmpty()) {
      notes.add(
          "%s: %d of %d processes failed and were tried again: %s"
              .formatted(
                  cell.label(),
                  failed.size(),
                  ends.size(),
                  failed.stream()
                      .map(Entry.ForkEnd::failure)
                      .distinct()
                      .collect(Collectors.joining("; "))));
    }
  }

  /** Which classes the processes are of whose warm-up ended at its cap. */
  private static void noteUnsettled(
      String label, Collection<ForkRecord> forks, List<String> notes) {
    Map<WarmUp.Kind, Integer> kinds = new EnumMap<>(WarmUp.Kind.class);
    forks.stream()
        .filter(fork -> !fork.end().settled())
        .forEach(fork -> kinds.merge(warmUpClass(fork), 1, Integer::sum));
    if (!kinds.isEmpty()) {
      notes.add(
          "%s had not settled when its warm-up ended in %d of %d processes (%s)"
              .formatted(
                  label,
                  kinds.values().stream().mapToInt(Integer::intValue).sum(),
                  forks.size(),
                  kinds.entrySet().stream()
                      .map(kind -> kind.getValue() + " " + name(kind.getKey()))
                      .collect(Collectors.joining(", "))));
    }
  }

  /** Of a process's calls from the first warm-up call to the last trial. */
  private static WarmUp.Kind warmUpClass(ForkRecord fork) {
    return WarmUp.classify(
            Stream.of(Entry.Role.WARM_UP, Entry.Role.TRIAL)
                .flatMap(role -> fork.calls(role).stream())
                .mapToDouble(Entry.Call::nanos)
                .toArray())
        .kind();
  }

  private static String name(WarmUp.Kind kind) {
    return switch (kind) {
      case FLAT -> "flat";
      case WARM_UP -> "warm-up";
      case SLOWDOWN -> "slowdown";
      case NO_STEADY_STATE -> "no steady state";
    };
  }

  /** A disturbed block stands where its repetition was disturbed too, or is still to come. */
  private void noteDisturbed(Set<Integer> numbers, List<String> notes) {
    long disturbed = blocks.disturbed().stream().filter(numbers::contains).count();
    if (disturbed > 0) {
      notes.add(
          "the machine was disturbed during %d of the %d blocks behind this"
              .formatted(disturbed, numbers.size()));
    }
  }

  private static void noteVariation(String label, Sample sample, List<String> notes) {
    double variation = sample.variationBetweenForks();
    if (variation > NOISY) {
      notes.add("%s varies by %.0f %% between processes".formatted(label, 100 * variation));
    }
  }

  /** Why an interval is optimistic. */
  private static void noteShape(String label, Sample sample, List<String> notes) {
    Shape.of(sample)
        .warning()
        .ifPresent(why -> notes.add(label + ": " + why.replaceAll("\\.$", "")));
  }

  /** What forbids a verdict between a label and the baseline. */
  private List<String> obstacles(String label) {
    List<String> obstacles = new ArrayList<>();
    for (String side : List.of(label, study.baseline())) {
      parity.stream()
          .filter(p -> p.label().equals(side) && !p.pass())
          .forEach(p -> obstacles.add(side + " failed parity"));
    }
    if (engines.containsKey(label) && engines.containsKey(study.baseline())) {
      List<String> lines = FairnessSheet.unexplained(study, fairness, label, study.baseline());
      if (!lines.isEmpty()) {
        obstacles.add("different: " + String.join(", ", lines));
      }
    }
    return obstacles;
  }

  private String settling(Draft draft, Optional<Interval> interval, int together) {
    if (interval.isEmpty()) {
      return "need ≥ " + Study.Design.LEAST_FORKS + " blocks";
    }
    double margin = draft.margin();
    // What clears the margin alone may not do so as one of many.
    boolean alone = Verdict.of(interval.get(), margin) != Verdict.INCONCLUSIVE;
    Interval judged =
        alone
            ? draft.interval(FamilyVerdicts.levelOf(together)).orElse(interval.get())
            : interval.get();
    OptionalInt enough = RequiredForks.toSettle(judged, draft.blocks(), margin, MOST_FORKS);
    String settled =
        enough.isPresent()
            ? "about " + enough.getAsInt() + " forks would settle it"
            : "too close to the margin for " + MOST_FORKS + " forks to settle it";
    if (!alone) {
      return settled;
    }
    return (together == 1
            ? "not sure enough at %.0f %%: ".formatted(100 * FamilyVerdicts.LEVEL)
            : "not sure enough as one of %d ratios judged at once: ".formatted(together))
        + settled;
  }

  private String precision(String label) {
    EngineParity engine = engines.get(label);
    return engine == null ? "" : engine.settings().weights();
  }
}

package io.steelyard.app;

import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.engines.attention.RingProblem;
import io.steelyard.engines.attention.RingProblem.Count;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.reports.BarChart;
import io.steelyard.reports.Chart;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * What each rank of a ring did, over all timed passes.
 *
 * @param title what all rows share
 * @param rows by length, then by ring, then by rank
 */
record RingRanksView(String title, List<Row> rows) implements StudyView {
  /**
   * One rank.
   *
   * @param scores it computed in a pass, by count
   * @param work these, as a share of the mean over the ring's ranks
   * @param sentBytes of a pass, counted where they were written to the socket
   * @param receivedBytes likewise where they were read
   * @param blocks of keys and values of which it saw something
   * @param computeMilliseconds of a pass
   * @param computeLow lower bound of the 95 % interval; null where there is none
   * @param computeHigh upper bound; null likewise
   * @param waitMilliseconds the rest of a pass: a block was still on its way, or others not done
   * @param waitLow lower bound of the 95 % interval; null where there is none
   * @param waitHigh upper bound; null likewise
   * @param scratchBytes the most memory beside its shard and results
   * @param peakBytes largest resident memory of its process
   */
  record Row(
      String label,
      String length,
      int rank,
      double scores,
      double work,
      double sentBytes,
      double receivedBytes,
      double blocks,
      double computeMilliseconds,
      Double computeLow,
      Double computeHigh,
      double waitMilliseconds,
      Double waitLow,
      Double waitHigh,
      double scratchBytes,
      double peakBytes) {
    String bar() {
      return label + ", rank " + rank;
    }
  }

  static Optional<StudyView> of(RunDirectory directory, StudyRun.Outcome outcome) {
    Study study = directory.plan();
    List<Row> rows = new ArrayList<>();
    for (Workload workload : study.workloads()) {
      study
          .engines()
          .forEach(
              (label, engine) -> {
                if (engine.name().equals(RingProblem.ENGINE)) {
                  List<ForkRecord> forks =
                      List.copyOf(outcome.blocks().sound(new Cell(label, workload)).values());
                  rows.addAll(
                      rows(
                          label,
                          workload.title(),
                          RingProblem.of(engine.options()).ranks(),
                          forks,
                          study.design().seed()));
                }
              });
    }
    return rows.isEmpty()
        ? Optional.empty()
        : Optional.of(new RingRanksView(study.model().name(), rows));
  }

  private static List<Row> rows(
      String label, String length, int ranks, List<ForkRecord> forks, long seed) {
    List<Row> rows = new ArrayList<>();
    if (forks.isEmpty()) {
      return rows;
    }
    double all = 0;
    for (int rank = 0; rank < ranks; rank++) {
      all += sample(forks, Count.SCORES, rank).mean();
    }
    for (int rank = 0; rank < ranks; rank++) {
      Sample compute = sample(forks, Count.COMPUTE_NANOS, rank);
      Sample wait = sample(forks, Count.WAIT_NANOS, rank);
      Optional<Interval> ofCompute = Intervals.mean(compute, seed);
      Optional<Interval> ofWait = Intervals.mean(wait, seed);
      double scores = sample(forks, Count.SCORES, rank).mean();
      rows.add(
          new Row(
              label,
              length,
              rank,
              scores,
              scores / (all / ranks),
              sample(forks, Count.SENT_BYTES, rank).mean(),
              sample(forks, Count.RECEIVED_BYTES, rank).mean(),
              sample(forks, Count.BLOCKS_MET, rank).mean(),
              compute.mean() / 1e6,
              milliseconds(ofCompute, Interval::low),
              milliseconds(ofCompute, Interval::high),
              wait.mean() / 1e6,
              milliseconds(ofWait, Interval::low),
              milliseconds(ofWait, Interval::high),
              sample(forks, Count.SCRATCH_BYTES, rank).max(),
              sample(forks, Count.PEAK_BYTES, rank).max()));
    }
    return rows;
  }

  /** A rank's count in every timed call of every process. */
  private static Sample sample(List<ForkRecord> forks, Count count, int rank) {
    return Sample.of(
        forks.stream()
            .map(
                fork ->
                    fork.calls(Entry.Role.TRIAL).stream()
                        .mapToDouble(call -> call.counts().orElseThrow().get(count.of(rank)))
                        .toArray())
            .toArray(double[][]::new));
  }

  private static Double milliseconds(
      Optional<Interval> interval, ToDoubleFunction<Interval> bound) {
    // No time is below none, whatever the interval of a few trials says.
    return interval.map(of -> Math.max(0, bound.applyAsDouble(of) / 1e6)).orElse(null);
  }

  @Override
  public String name() {
    return "ranks";
  }

  @Override
  public DetailTable table() {
    List<List<String>> lines = new ArrayList<>();
    String group = "";
    for (Row row : rows) {
      String own = row.length() + row.label();
      lines.add(
          List.of(
              own.equals(group) ? "" : row.length(),
              own.equals(group) ? "" : row.label(),
              Integer.toString(row.rank()),
              Format.significant(row.scores() / 1e6, 4),
              Format.percent(row.work(), 1),
              Format.significant(row.computeMilliseconds(), 3)
                  + interval(row.computeLow(), row.computeHigh()),
              Format.significant(row.waitMilliseconds(), 3)
                  + interval(row.waitLow(), row.waitHigh()),
              Format.significant(row.sentBytes() / 1e6, 4),
              Format.significant(row.receivedBytes() / 1e6, 4),
              Format.significant(row.scratchBytes() / 1e6, 3)));
      group = own;
    }
    return new DetailTable(
        "Ranks: " + title,
        List.of(
            "length",
            "ring",
            "rank",
            "M scores",
            "work",
            "compute ms",
            "wait ms",
            "sent MB",
            "received MB",
            "scratch MB"),
        lines,
        "Scores: computed in a pass, by count; work: these, as a share of the mean over the ranks;"
            + " wait: the rest of a pass, in which the rank had nothing to compute because a block"
            + " was still on its way or others had not yet done; sent and received: bytes of a pass"
            + " through the rank's sockets, by count; scratch: the most memory beside its shard and"
            + " results. Times have 95 % intervals over processes; all ranks begin a pass behind a"
            + " barrier.");
  }

  private static String interval(Double low, Double high) {
    return low == null || high == null
        ? ""
        : " [%s, %s]".formatted(Format.significant(low, 3), Format.significant(high, 3));
  }

  @Override
  public List<? extends Chart> charts() {
    String longest = rows.getLast().length();
    List<Row> shown = rows.stream().filter(row -> row.length().equals(longest)).toList();
    String subtitle = "%s, %d tokens".formatted(title, AttentionProblem.length(longest));
    return List.of(
        new BarChart(
            "ring-time",
            "Time of each rank",
            subtitle,
            "ms",
            List.of("compute", "wait"),
            shown.stream()
                .map(
                    row ->
                        new BarChart.Bar(
                            row.bar(),
                            new double[] {row.computeMilliseconds(), row.waitMilliseconds()}))
                .toList()),
        new BarChart(
            "ring-work",
            "Work of each rank",
            subtitle,
            "scores computed, % of the mean",
            List.of("work"),
            shown.stream()
                .map(row -> new BarChart.Bar(row.bar(), new double[] {100 * row.work()}))
                .toList()));
  }
}

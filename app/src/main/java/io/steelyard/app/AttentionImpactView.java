package io.steelyard.app;

import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.BenchmarkRun;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.Sample;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * What a pattern cache and a memory pool save of memory, and what they did.
 *
 * @param rows by length, then by what is kept
 */
record AttentionImpactView(List<Row> rows) implements StudyView {
  /**
   * What is kept, at one length.
   *
   * @param peakBytes largest resident memory of a process, mean over blocks
   * @param savedBytes how much less that is than where neither is kept, block by block; null where
   *     neither is
   * @param savedLow lower bound of its 95 % interval; null where there is none
   * @param savedHigh upper bound; null likewise
   * @param pieces of scratch memory that came from the system in a pass after the first; null where
   *     passes are too long for one more, as are the next three
   * @param reused pieces in that pass that had been used before
   * @param made patterns that were made in that pass
   * @param found patterns in that pass that had been made before
   */
  record Row(
      String kept,
      String length,
      double peakBytes,
      Double savedBytes,
      Double savedLow,
      Double savedHigh,
      Long pieces,
      Long reused,
      Long made,
      Long found) {}

  static Optional<StudyView> of(RunDirectory directory, StudyRun.Outcome outcome) {
    Study study = directory.plan();
    if (!study.baseline().equals(AttentionImpactCommand.NEITHER)
        || Files.notExists(directory.path().resolve(BenchmarkRun.COUNTS))) {
      return Optional.empty();
    }
    Map<?, ?> counts = directory.read(BenchmarkRun.COUNTS, Map.class);
    List<Row> rows = new ArrayList<>();
    for (Workload workload : study.workloads()) {
      for (String label : study.engines().keySet()) {
        Blocks.Pairs pairs =
            outcome.blocks().pairs(new Cell(label, workload), new Cell(study.baseline(), workload));
        if (!pairs.blocks().isEmpty()
            && counts.get(label) instanceof Map<?, ?> ofLabel
            && ofLabel.get(workload.title()) instanceof Map<?, ?> ofCell) {
          boolean kept = !label.equals(study.baseline());
          rows.add(row(label, workload.title(), pairs, kept, ofCell, study.design().seed()));
        }
      }
    }
    return rows.isEmpty() ? Optional.empty() : Optional.of(new AttentionImpactView(rows));
  }

  private static Row row(
      String label, String length, Blocks.Pairs pairs, boolean kept, Map<?, ?> counts, long seed) {
    double[] own = peaks(pairs.subject());
    double[] neither = peaks(pairs.baseline());
    Sample saved =
        Sample.ofForks(
            IntStream.range(0, own.length).mapToDouble(i -> neither[i] - own[i]).toArray());
    Optional<Interval> interval = kept ? Intervals.mean(saved, seed) : Optional.empty();
    return new Row(
        label,
        length,
        Sample.ofForks(own).mean(),
        kept ? Double.valueOf(saved.mean()) : null,
        interval.map(Interval::low).orElse(null),
        interval.map(Interval::high).orElse(null),
        count(counts, "warm_pool_allocations"),
        count(counts, "warm_pool_reuses"),
        count(counts, "warm_pattern_misses"),
        count(counts, "warm_pattern_hits"));
  }

  private static double[] peaks(List<ForkRecord> forks) {
    return forks.stream().mapToDouble(fork -> fork.end().peakBytes()).toArray();
  }

  private static Long count(Map<?, ?> counts, String name) {
    return counts.get(name) instanceof Number number ? Long.valueOf(number.longValue()) : null;
  }

  @Override
  public String name() {
    return "impact";
  }

  @Override
  public DetailTable table() {
    return new DetailTable(
        "Memory saved, and what cache and pool did",
        List.of(
            "length",
            "kept",
            "peak MB",
            "saved MB",
            "95 %",
            "new pieces",
            "reused",
            "patterns made",
            "found"),
        rows.stream()
            .map(
                row ->
                    List.of(
                        row.length(),
                        row.kept(),
                        megabytes(row.peakBytes()),
                        megabytes(row.savedBytes()),
                        row.savedLow() == null
                            ? ""
                            : "[%s, %s]"
                                .formatted(megabytes(row.savedLow()), megabytes(row.savedHigh())),
                        counted(row.pieces()),
                        counted(row.reused()),
                        counted(row.made()),
                        counted(row.found())))
            .toList(),
        "Saved: how much less the largest resident memory is than where neither is kept, with its"
            + " 95 % interval over blocks; less than nothing where it is more. The counters are of a"
            + " pass after the first: pieces of scratch memory that came from the system and that"
            + " had been used before, patterns that were made and that had been made before.");
  }

  private static String megabytes(Double bytes) {
    return bytes == null ? "–" : Format.decimals(bytes / 1e6, 1);
  }

  private static String counted(Long count) {
    return count == null ? "–" : Format.count(count);
  }
}

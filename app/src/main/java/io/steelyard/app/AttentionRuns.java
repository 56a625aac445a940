package io.steelyard.app;

import io.steelyard.app.AttentionCurves.Curve;
import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.history.HistoryException;
import io.steelyard.history.HistoryStore;
import io.steelyard.history.RunContents;
import io.steelyard.history.StoredRun;
import io.steelyard.history.TimedValue;
import io.steelyard.lab.RunException;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;

/**
 * Runs of attention that were made before, found by a folder, by a JSON file that one wrote, or by
 * a number or name of the history.
 *
 * @param runs where run directories lie
 */
record AttentionRuns(Path runs, HistoryPlace history) {
  private static final String PLAN = "plan.json";
  private static final String SUMMARY = "summary.json";
  private static final long LARGEST_FILE = 64 << 20;

  /**
   * A run that was found.
   *
   * @param beside folder that what is made of it belongs to
   * @param notes what is missing of it, in sentences
   */
  record Found(AttentionCurves curves, Path beside, List<String> notes) {}

  /**
   * Finds one.
   *
   * @throws RunException if there is none, or it is no run of attention, or nothing was measured
   */
  Found find(String run) {
    for (Path path : List.of(Path.of(run), runs.resolve(run))) {
      if (Files.exists(path.resolve(PLAN))) {
        return ofFolder(path);
      }
      if (Files.exists(path.resolve(ExtremeReport.FILE + ".json"))) {
        throw new RunException(
            "%s is of 'attention extreme', which has drawn its own plots: see %s"
                .formatted(path, path.resolve(ExtremeReport.FILE + ".md")));
      }
      if (Files.isRegularFile(path)) {
        Path folder = path.toAbsolutePath().getParent();
        return Files.exists(folder.resolve(PLAN)) ? ofFolder(folder) : ofFile(path, folder);
      }
    }
    return ofHistory(run);
  }

  private Found ofFolder(Path folder) {
    try (RunDirectory directory = RunDirectory.open(runs, folder.toString())) {
      if (!AttentionCurves.isOf(directory.plan())) {
        throw noAttention(folder.toString(), directory.plan().metrics().toString());
      }
      List<Entry> entries =
          Files.exists(directory.journalFile()) ? Journal.read(directory.journalFile()) : List.of();
      Blocks blocks = Blocks.of(entries);
      List<String> notes = new ArrayList<>();
      AttentionCurves curves = AttentionCurves.of(directory, blocks);
      if (curves.curves().isEmpty()) {
        throw new RunException(
            "nothing was measured in %s yet: './steelyard resume %s' goes on with it"
                .formatted(folder, folder));
      }
      if (Files.exists(folder.resolve(SUMMARY))) {
        addSpeedups(curves, directory.read(SUMMARY, Summary.class).comparisons());
      } else {
        notes.add(
            "The run was interrupted; this is what %d of its blocks hold. './steelyard resume %s' goes on with it."
                .formatted(blocks.all().size(), folder));
      }
      directory
          .plan()
          .leftOut()
          .ifPresent(
              cells -> cells.values().stream().sorted().forEach(why -> notes.add(why + ".")));
      return new Found(curves, folder, notes);
    }
  }

  private static void addSpeedups(AttentionCurves curves, List<Summary.Comparison> comparisons) {
    for (Curve curve : curves.curves()) {
      for (Summary.Comparison comparison : comparisons) {
        if (comparison.subject().equals(curve.variant()) && comparison.ratio() != null) {
          curve
              .speedups()
              .put(
                  AttentionProblem.length(comparison.metric()),
                  new AttentionGrowth.Estimate(
                      comparison.ratio(), comparison.low(), comparison.high()));
        }
      }
    }
  }

  /** What {@code --json} printed, or a copy of a run's rows. */
  private record Document(List<AttentionView.Row> rows) {}

  private static Found ofFile(Path file, Path folder) {
    List<AttentionView.Row> rows;
    try {
      if (Files.size(file) > LARGEST_FILE) {
        throw new RunException(
            "%s has more than %d MB: no run of attention prints so much"
                .formatted(file, LARGEST_FILE >> 20));
      }
      String text = Files.readString(file).strip();
      rows =
          text.startsWith("[")
              ? List.of(Json.read(text, AttentionView.Row[].class))
              : Json.read(text, Document.class).rows();
    } catch (IOException e) {
      throw new RunException("can't read %s: %s".formatted(file, RunException.reason(e)), e);
    } catch (JacksonException e) {
      throw new RunException(
          "%s is no JSON of a run of attention: give what 'attention range --json' printed, or a run's rows.json (%s)"
              .formatted(file, e.getOriginalMessage()),
          e);
    }
    Map<String, Curve> curves = new LinkedHashMap<>();
    String baseline = "";
    for (AttentionView.Row row : rows == null ? List.<AttentionView.Row>of() : rows) {
      int length = length(file, row);
      Curve curve = curves.computeIfAbsent(row.variant(), Curve::of);
      curve.add(length, 1, row.milliseconds() * 1e6);
      if (row.scratchBytes() != null) {
        curve.scratchBytes().put(length, row.scratchBytes());
      }
      if (row.speedup() != null) {
        curve
            .speedups()
            .put(
                length,
                new AttentionGrowth.Estimate(row.speedup(), row.speedupLow(), row.speedupHigh()));
      }
      baseline = AttentionView.BASELINE.equals(row.verdict()) ? row.variant() : baseline;
    }
    if (curves.isEmpty()) {
      throw new RunException(file + " holds no rows: nothing was measured in that run");
    }
    return new Found(
        new AttentionCurves(
            file.getFileName().toString(),
            baseline,
            DesignOptions.SEED,
            List.copyOf(curves.values())),
        folder.resolve(file.getFileName().toString().replaceFirst("\\.json$", "")),
        List.of(
            "From a JSON file, which has means but no blocks: exponents and crossovers have no"
                + " intervals. Give the run's folder for those."));
  }

  private static int length(Path file, AttentionView.Row row) {
    if (row != null && row.variant() != null && row.length() != null && row.milliseconds() > 0) {
      try {
        return AttentionProblem.length(row.length());
      } catch (IllegalArgumentException e) {
        throw new RunException("%s: %s".formatted(file, e.getMessage()), e);
      }
    }
    throw new RunException(
        "%s has a row without a variant, a length or a time: it is no run of attention's"
            .formatted(file));
  }

  private Found ofHistory(String run) {
    try (HistoryStore store = history.open()) {
      StoredRun stored = store.find(run);
      Path folder = runs.resolve(stored.name());
      if (Files.exists(folder.resolve(PLAN))) {
        return ofFolder(folder);
      }
      RunContents contents = store.show(stored);
      if (contents.cells().stream()
          .noneMatch(cell -> cell.figures().engine().equals(AttentionProblem.ENGINE))) {
        throw noAttention("run " + run + " of the history", stored.model().name());
      }
      Map<String, Curve> curves = new LinkedHashMap<>();
      for (RunContents.Cell cell : contents.cells()) {
        Summary.Cell figures = cell.figures();
        Curve curve = curves.computeIfAbsent(figures.label(), Curve::of);
        int length = AttentionProblem.length(figures.metric());
        store.values(cell.number()).stream()
            .filter(TimedValue::isCountedTrial)
            .collect(
                Collectors.groupingBy(
                    TimedValue::block, Collectors.averagingDouble(TimedValue::value)))
            .forEach((block, nanos) -> curve.add(length, block, nanos));
      }
      AttentionCurves all =
          new AttentionCurves(
              stored.model().name(),
              contents.comparisons().stream()
                  .map(Summary.Comparison::baseline)
                  .findFirst()
                  .orElse(""),
              DesignOptions.SEED,
              List.copyOf(curves.values()));
      if (all.curves().isEmpty()) {
        throw new RunException("run %s of the history holds no times".formatted(run));
      }
      addSpeedups(all, contents.comparisons());
      return new Found(
          all,
          folder,
          List.of(
              "From the history, which keeps no scratch memory: its folder is not at %s."
                  .formatted(folder)));
    } catch (HistoryException e) {
      throw new RunException(
          "there is no run '%s': it is no run's folder, here or under %s, no file, and %s"
              .formatted(run, runs, e.getMessage()),
          e);
    }
  }

  private static RunException noAttention(String run, String what) {
    return new RunException(
        "%s is no run of attention (it measured %s): 'attention plot' draws those of 'attention range' and 'attention impact'"
            .formatted(run, what));
  }
}

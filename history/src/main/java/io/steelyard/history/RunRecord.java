package io.steelyard.history;

import io.steelyard.lab.record.Summary;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A run as it goes into a history.
 *
 * @param name the run directory's or the file's
 * @param source who measured it: {@code steelyard}, {@code llama-bench}, …
 * @param started by the clock of the machine that measured, from 1970 to before 9999
 * @param command the command line that reproduces it; empty where not known
 * @param settings what every engine was told; empty where the labels say it all
 * @param commit what was measured
 * @param environment as in {@code environment.json}; without {@code hardware} where that is not
 *     known
 * @param identity what stays the same when the run is resumed: the same name and identity are the
 *     same run
 * @param content SHA-256 of all that is added
 * @param extent bytes of its journal: of two states of a run, the later has more; 0 where there is
 *     none
 */
public record RunRecord(
    String name,
    String source,
    Instant started,
    String command,
    Model model,
    String settings,
    Commit commit,
    Map<String, Object> environment,
    String identity,
    String content,
    long extent,
    List<MeasuredCell> cells,
    List<Summary.Comparison> comparisons) {

  /** The source of what Steelyard's own lab measured. */
  public static final String STEELYARD = "steelyard";

  private static final Instant EARLIEST = Instant.EPOCH;
  private static final Instant LATEST = Instant.parse("9999-01-01T00:00:00Z");

  /**
   * The model.
   *
   * @param sha256 of its file; empty where not known
   * @param weights {@code real}, {@code random} or {@code unknown}
   */
  public record Model(String name, String sha256, String weights) {}

  /**
   * A commit.
   *
   * @param id empty where not known
   * @param dirty whether there were changes on top; empty where not known
   */
  public record Commit(String id, Optional<Boolean> dirty) {
    public static final Commit UNKNOWN = new Commit("", Optional.empty());
  }

  public RunRecord {
    if (name.isBlank()) {
      throw new HistoryException("a run without a name can't be added");
    }
    if (started.isBefore(EARLIEST) || !started.isBefore(LATEST)) {
      throw new HistoryException(
          "the run %s can't have started %s: that is before %s or after %s"
              .formatted(name, started, EARLIEST, LATEST));
    }
    environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
    cells = List.copyOf(cells);
    comparisons = List.copyOf(comparisons);
  }

  /** The same run, made on this hardware: an imported file often doesn't say on which. */
  public RunRecord on(Map<String, Object> hardware) {
    Map<String, Object> known = new LinkedHashMap<>(environment);
    known.put(Hardware.PART, hardware);
    return new RunRecord(
        name,
        source,
        started,
        command,
        model,
        settings,
        commit,
        known,
        identity,
        content,
        extent,
        cells,
        comparisons);
  }
}

package io.steelyard.app;

import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.study.Study;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** How much is measured, in whatever study, and where the run is kept. */
final class DesignOptions {
  private static final double BUDGET_SECONDS = 180;

  /** The change that matters, unless a person says otherwise. */
  static final double MARGIN = 0.02;

  /** Of every random order and resampling, unless a person says otherwise. */
  static final long SEED = 20251127;

  /** Trials of a process, where more of them pay. */
  private static final int MOST_TRIALS = 50;

  @Option(
      names = "--budget",
      paramLabel = "TIME",
      converter = Converters.Seconds.class,
      description =
          "no new block starts after this time of measuring, once there are three (default: 3m; with"
              + " --forks none)")
  Double budget;

  @Option(
      names = "--forks",
      paramLabel = "N",
      description =
          "exactly so many blocks, each with one fresh process a cell (default: until everything is"
              + " settled or the budget is spent)")
  Integer forks;

  @Option(
      names = "--trials",
      paramLabel = "N",
      description =
          "exactly so many timed calls a process (default: 3, or as many as pay; 2 with --quick)")
  Integer trials;

  @Option(
      names = "--precision",
      paramLabel = "SHARE",
      converter = Converters.Share.class,
      description =
          "a ratio is settled, too, once its interval is no wider than this on either side (default:"
              + " half the margin)")
  Double precision;

  /** What is done with trials far out. */
  enum Outliers {
    KEEP,
    DROP
  }

  @Option(
      names = "--outliers",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      paramLabel = "keep|drop",
      defaultValue = "keep",
      description =
          "whether trials beyond Tukey's outer fences count; the report has both results (default:"
              + " keep)")
  Outliers outliers;

  @Option(names = "--quick", description = "three blocks of two trials, short warm-up")
  boolean quick;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = SEED + "",
      description = "of the order of cells and of all resampling")
  long seed;

  @Option(
      names = "--runs",
      paramLabel = "DIR",
      defaultValue = "runs",
      description = "where run directories lie")
  Path runs;

  /** A design with a short warm-up. */
  static Study.Design quick(int forks, int trials, double budgetSeconds, double margin, long seed) {
    return new Study.Design(forks, trials, 8, 5, budgetSeconds, margin, seed);
  }

  /**
   * The design, all of it checked.
   *
   * @param usualTrials of a process, where nobody says how many
   */
  Study.Design of(double margin, int usualTrials) {
    check();
    return counted(margin, usualTrials).droppingOutliers(outliers == Outliers.DROP);
  }

  private Study.Design counted(double margin, int usualTrials) {
    double limit =
        budget != null ? budget : forks != null || quick ? Study.Design.NO_BUDGET : BUDGET_SECONDS;
    if (quick) {
      int blocks = forks == null ? Study.Design.LEAST_FORKS : forks;
      return quick(blocks, trials == null ? 2 : trials, limit, margin, seed);
    }
    int given = trials == null ? usualTrials : trials;
    if (forks != null) {
      return new Study.Design(forks, given, 12, 15, limit, margin, seed);
    }
    return new Study.Design(Study.Design.MOST_FORKS, given, 12, 15, limit, margin, seed)
        .adapting(
            new Study.Adaptive(
                precision == null ? margin / 2 : precision, trials == null ? MOST_TRIALS : trials));
  }

  /** Settings of a study whose processes load no model: the lengths and types are those of none. */
  static Study.Settings withoutModel() {
    return new Study.Settings(
        Runtime.getRuntime().availableProcessors(), 1, "f16", false, Environment.affinity());
  }

  private void check() {
    if (trials != null) {
      StudyOptions.between("--trials", trials, 1, 1000);
    }
    if (forks != null) {
      StudyOptions.between("--forks", forks, 1, 1000);
    }
    requireRuns(runs);
  }

  /** Refuses a folder without a name. */
  static void requireRuns(Path runs) {
    if (runs.toString().isBlank()) {
      throw new UsageException("--runs is empty: name a folder");
    }
  }
}

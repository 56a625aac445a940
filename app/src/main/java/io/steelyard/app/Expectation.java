package io.steelyard.app;

import io.steelyard.lab.study.Study;
import io.steelyard.reports.terminal.Format;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How long a run will take, said before anything has begun and so only roughly: how fast the
 * engines are is known after parity, which says more.
 */
final class Expectation {
  /** What the oracle and two engines need for the default model, measured on two cores. */
  private static final double PARITY_SECONDS = 45;

  private static final double DEFAULT_MODEL_BYTES = 98e6;

  /** What each takes however small the model is: processes start and calls are repeated. */
  private static final double LEAST_SECONDS = 6;

  /** So many digits of a model's checksum name the oracle's results of it. */
  private static final int DIGITS = 16;

  private Expectation() {}

  /**
   * One sentence.
   *
   * @param cache the cache's root, which may hold what parity found before
   */
  static String of(Study study, Path cache) {
    double size = study.model().bytes() / DEFAULT_MODEL_BYTES;
    double perEngine = Math.max(LEAST_SECONDS, size * PARITY_SECONDS / 3);
    String parity = time(perEngine * (study.engines().size() + 1));
    return "plan: parity %s, then measuring %s in %s"
        .formatted(
            known(study, cache)
                ? "in seconds where nothing has changed since it was kept, else about " + parity
                : "about " + parity + " (kept for next time)",
            Format.count(study.cells().size(), "cell"),
            blocks(study.design()));
  }

  private static String blocks(Study.Design design) {
    int most = design.forks();
    String blocks = Format.count(most, "block");
    boolean adaptive = design.adaptive().isPresent();
    if (!adaptive
        && (most <= Study.Design.LEAST_FORKS || design.budgetSeconds() == Study.Design.NO_BUDGET)) {
      return blocks;
    }
    return "%s, at least %d, in about %s"
        .formatted(
            adaptive ? "as many blocks as settle it" : "up to " + blocks,
            Study.Design.LEAST_FORKS,
            time(design.budgetSeconds()));
  }

  private static boolean known(Study study, Path cache) {
    String sha256 = study.model().sha256();
    String prefix = sha256.substring(0, Math.min(DIGITS, sha256.length()));
    Path kept = cache.resolve("oracle");
    if (!Files.isDirectory(kept)) {
      return false;
    }
    try (DirectoryStream<Path> found = Files.newDirectoryStream(kept, prefix + "-*")) {
      return found.iterator().hasNext();
    } catch (IOException e) {
      return false; // only the estimate depends on it
    }
  }

  private static String time(double seconds) {
    return seconds < 100
        ? "%.0f s".formatted(Math.ceil(seconds / 5) * 5)
        : "%.0f min".formatted(Math.ceil(seconds / 60));
  }
}

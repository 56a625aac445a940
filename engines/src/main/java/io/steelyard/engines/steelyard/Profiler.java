package io.steelyard.engines.steelyard;

import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.ProfileFile;
import io.steelyard.kernels.ProfiledKernels;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.util.Optional;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;

/**
 * Says where a model's time goes: times its operators and lets the JDK's flight recorder run beside
 * them. Closed, it leaves {@link #OPERATORS} and {@link #RECORDING} in its folder.
 */
public final class Profiler implements AutoCloseable {
  /** The engine's option that names the folder. */
  public static final String OPTION = "profile";

  /** The file of {@link ProfileFile}. */
  public static final String OPERATORS = "operators.tsv";

  /**
   * The flight recording, with a {@link ProfiledKernels.OperatorEvent} for every call of an
   * operator.
   */
  public static final String RECORDING = "recording.jfr";

  /** The recorder's own name for the settings that sample stacks often. */
  private static final String SETTINGS = "profile";

  private final Path folder;
  private final ProfiledKernels kernels;
  private Optional<Recording> recording = Optional.empty();

  /**
   * Wraps a model's operators.
   *
   * @param folder made if it is not there
   */
  public Profiler(Path folder, Kernels kernels) {
    this.folder = folder;
    this.kernels = new ProfiledKernels(kernels);
  }

  /** The operators, timed. */
  public ProfiledKernels kernels() {
    return kernels;
  }

  /** Begins to measure and to record; forgets what was before, such as a warm-up. */
  public void begin() throws EngineException {
    try {
      Files.createDirectories(folder);
      Recording next = new Recording(Configuration.getConfiguration(SETTINGS));
      next.start();
      // Only now: no event is switched off in between, so no code has to be compiled again.
      recording.ifPresent(Recording::close);
      recording = Optional.of(next);
      kernels.reset();
    } catch (IOException | ParseException e) {
      throw new EngineException(
          Kind.FAILED,
          "steelyard: " + OPTION + "=" + folder + ": nothing can be recorded there: " + e,
          e);
    }
  }

  /** Writes what was measured and recorded. */
  @Override
  public void close() {
    try (Recording last = recording.orElse(null)) {
      if (last != null) {
        last.stop();
        ProfileFile.write(folder.resolve(OPERATORS), kernels.lines());
        last.dump(folder.resolve(RECORDING));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(
          "the profile can't be written to %s (%s): is there room, and is the folder there?"
              .formatted(folder, e.getMessage()),
          e);
    }
  }
}

package io.steelyard.app;

import io.steelyard.kernels.DataType;
import io.steelyard.lab.RunException;
import io.steelyard.lab.study.Workload;
import io.steelyard.models.ModelFile;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.catalogue.ModelResolver;
import io.steelyard.models.catalogue.ResolveListener;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.models.quantize.Scheme;
import io.steelyard.models.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Models by name, fetched where they are not there yet, with a person watching. */
final class Models {
  private static final long MOST_TEXT_BYTES = 1 << 24;

  private Models() {}

  static ModelResolver resolver() {
    return new ModelResolver(System.getenv());
  }

  /** Finds a model by name or path, and fetches or makes it where it has to be. */
  static ResolvedModel resolve(String name, Console console) {
    return watched(console, listener -> resolver().resolve(name, listener));
  }

  /** Brings a named model into the cache. */
  static ResolvedModel pull(String name, boolean force, Console console) {
    return watched(console, listener -> resolver().pull(name, force, listener));
  }

  /** The same model in another precision, made where it isn't in the cache. */
  static ResolvedModel inPrecision(ResolvedModel source, Scheme precision, Console console) {
    return watched(console, listener -> resolver().inPrecision(source, precision, listener));
  }

  /** f16 as users run it, but f32 where the weights are: see docs/decisions/0004. */
  static String defaultKv(ResolvedModel model) {
    try (ModelFile file = ModelFile.open(model.file())) {
      return file.bytesByType().keySet().equals(Set.of(DataType.F32)) ? "f32" : "f16";
    }
  }

  /** Refuses a context that the model was not made for. */
  static void checkContext(ResolvedModel model, int tokens) {
    long trained = trainedContext(model);
    if (tokens > trained) {
      throw new UsageException(
          "%d tokens are more than the context of %d that %s was trained for: shorten the prompt, the generation or the depth"
              .formatted(tokens, trained, model.name()));
    }
  }

  /** Tokens of the context that a model was made for; a very large number where it doesn't say. */
  static long trainedContext(ResolvedModel model) {
    try (ModelFile file = ModelFile.open(model.file())) {
      String architecture = file.metadata().string("general.architecture");
      return file.metadata().integer(architecture + ".context_length", Integer.MAX_VALUE);
    }
  }

  /**
   * The token ids of a text file without its last line's end, control tokens parsed.
   *
   * @throws UsageException if it can't be read, or has too few or too many tokens
   */
  static List<Integer> tokens(ResolvedModel model, Path text) {
    try (ModelFile file = ModelFile.open(model.file())) {
      int[] ids = Tokenizer.of(file.metadata()).encode(text(text), true);
      if (ids.length < Workload.START_PROMPT) {
        throw new UsageException(
            "--text %s: %d tokens are too few to measure with; give a text of at least %d"
                .formatted(text, ids.length, Workload.START_PROMPT));
      }
      return IntStream.of(ids).boxed().toList();
    }
  }

  /**
   * What a text file holds, without its last line's end.
   *
   * @throws UsageException if it can't be read, is too long or is not in UTF-8
   */
  static String text(Path text) {
    return text("--text", text);
  }

  /**
   * The same for another option.
   *
   * @param option what the command line calls it
   */
  static String text(String option, Path text) {
    try {
      if (Files.size(text) > MOST_TEXT_BYTES) {
        throw new UsageException(
            "%s %s: %d bytes are more than the %d that can be used; give a shorter text"
                .formatted(option, text, Files.size(text), MOST_TEXT_BYTES));
      }
      // Editors end a file with a line's end that nobody means; a model would start a new line.
      return Files.readString(text).replaceFirst("\\R\\z", "");
    } catch (CharacterCodingException e) {
      throw new UsageException(option + " " + text + " is no text in UTF-8");
    } catch (IOException e) {
      throw new UsageException(option + " " + text + ": " + RunException.reason(e));
    }
  }

  /**
   * Refuses a place that no file can be written to.
   *
   * @param option what the command line calls it
   */
  static void requireFileToWrite(String option, Path file) {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new UsageException(option + " " + file + " is there and is no file: name another");
    }
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      throw new UsageException(option + " " + file + ": there is no such folder; make it first");
    }
  }

  private static ResolvedModel watched(
      Console console, Function<ResolveListener, ResolvedModel> work) {
    try (Watching watching = new Watching(console)) {
      return work.apply(watching);
    }
  }

  /** One bar an activity. */
  private static final class Watching implements ResolveListener, AutoCloseable {
    private final Console console;
    private BytesBar bar;

    Watching(Console console) {
      this.console = console;
    }

    @Override
    public void note(String line) {
      close();
      console.note(line);
    }

    @Override
    public ProgressListener begin(String activity) {
      close();
      bar = new BytesBar(console, activity);
      return bar;
    }

    @Override
    public void close() {
      if (bar != null) {
        bar.close();
        bar = null;
      }
    }
  }
}

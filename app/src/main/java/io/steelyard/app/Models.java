package io.steelyard.app;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.catalogue.ModelResolver;
import io.steelyard.models.catalogue.ResolveListener;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.models.gguf.GgufFile;
import java.util.function.Function;

/** Models by name, fetched where they are not there yet, with a person watching. */
final class Models {
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

  /** f16 as users run it, but f32 where the weights are: see docs/decisions/0004. */
  static String defaultKv(ResolvedModel model) {
    try (GgufFile file = GgufFile.open(model.file())) {
      return file.tensors().stream().map(Tensor::type).allMatch(DataType.F32::equals)
          ? "f32"
          : "f16";
    }
  }

  /** Refuses a context that the model was not made for. */
  static void checkContext(ResolvedModel model, int tokens) {
    try (GgufFile file = GgufFile.open(model.file())) {
      String architecture = file.metadata().string("general.architecture");
      long trained = file.metadata().integer(architecture + ".context_length", Integer.MAX_VALUE);
      if (tokens > trained) {
        throw new UsageException(
            "%d tokens are more than the context of %d that %s was trained for: shorten the prompt, the generation or the depth"
                .formatted(tokens, trained, model.name()));
      }
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

package io.steelyard.engines.steelyard;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.lab.worker.DecodeReport;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.ForwardReport;
import io.steelyard.lab.worker.ForwardRequest;
import io.steelyard.lab.worker.LayersReport;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.LoadRequest;
import io.steelyard.lab.worker.MemoryReport;
import io.steelyard.lab.worker.PrefillReport;
import io.steelyard.lab.worker.PrefillRequest;
import io.steelyard.lab.worker.RowSink;
import io.steelyard.lab.worker.TokenListener;
import io.steelyard.models.Model;
import io.steelyard.models.ModelException;
import io.steelyard.models.Session;
import io.steelyard.models.sampling.Sampler;
import io.steelyard.models.sampling.Sampling;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/** Steelyard's own engine behind the worker protocol. */
public final class SteelyardEngine implements Engine {
  private final Map<String, String> environment;
  private final UnaryOperator<Kernels> arithmetic;
  private Optional<LoadedModel> loaded = Optional.empty();

  /**
   * An engine without a model.
   *
   * @param environment the process's environment variables; {@code STEELYARD_TIER} forces a tier
   */
  public SteelyardEngine(Map<String, String> environment) {
    this(environment, UnaryOperator.identity());
  }

  /** An engine whose arithmetic is wrapped, so that tests can plant faults in it. */
  SteelyardEngine(Map<String, String> environment, UnaryOperator<Kernels> arithmetic) {
    this.environment = Map.copyOf(environment);
    this.arithmetic = arithmetic;
  }

  @Override
  public EngineInfo hello() throws EngineException {
    String backend =
        loaded.isPresent()
            ? loaded.get().kernels().description()
            : Kernels.describe(SteelyardOptions.defaultTier(environment));
    return new EngineInfo(
        SteelyardProvider.NAME,
        Optional.ofNullable(SteelyardEngine.class.getPackage().getImplementationVersion())
            .orElse("development"),
        backend,
        List.of(),
        Stream.of(DataType.values()).map(DataType::name).toList(),
        List.of("forward", "layers"),
        false,
        CodeChecksum.of(Kernels.class, Model.class, SteelyardEngine.class));
  }

  @Override
  public LoadReport load(LoadRequest request) throws EngineException {
    SteelyardOptions options = SteelyardOptions.of(request, environment);
    close();
    long start = System.nanoTime();
    LoadedModel model = LoadedModel.load(Path.of(request.model()), options, arithmetic);
    long nanos = System.nanoTime() - start;
    loaded = Optional.of(model);
    return new LoadReport(Map.of("load", nanos), model.bytes(), List.of(), model.settings());
  }

  @Override
  public int[] tokenize(String text, boolean parseSpecial) throws EngineException {
    LoadedModel model = loaded();
    try {
      return model.model().tokenizer().encode(text, parseSpecial);
    } catch (ModelException e) {
      throw new EngineException(Kind.BAD_MODEL, e.getMessage(), e);
    }
  }

  @Override
  public void logits(int[] ids, RowSink out) throws EngineException, IOException {
    LoadedModel model = loaded();
    check(model, ids, ids.length);
    model.reset();
    model.session().<IOException>forward(ids, 0, ids.length, out::row);
  }

  @Override
  public PrefillReport prefill(PrefillRequest request) throws EngineException {
    LoadedModel model = loaded();
    int[] ids = request.ids();
    check(model, ids, ids.length);
    if (request.depth() < 0 || request.depth() >= ids.length) {
      throw SteelyardOptions.bad(
          "the depth must leave something to time: 0 to %d for %d ids, not %d"
              .formatted(ids.length - 1, ids.length, request.depth()));
    }
    model.prepare(ids, request.depth());
    long start = System.nanoTime();
    MemorySegment logits = model.session().forward(ids, request.depth(), ids.length);
    long nanos = System.nanoTime() - start;
    return new PrefillReport(nanos, Sampler.argmax(logits));
  }

  @Override
  public DecodeReport decode(DecodeRequest request, TokenListener listener) throws EngineException {
    LoadedModel model = loaded();
    int[] prompt = request.ids();
    if (request.tokens() < 1) {
      throw SteelyardOptions.bad(
          "the number of tokens to generate must be at least 1, not " + request.tokens());
    }
    check(model, prompt, (long) prompt.length - 1 + request.tokens());
    Sampler sampler = new Sampler(sampling(request.sampling()));
    model.prepare(prompt, prompt.length - 1);
    Generation generation = new Generation(request, listener);
    generation.run(model.session(), prompt[prompt.length - 1], sampler);
    return generation.report();
  }

  private static Sampling sampling(DecodeRequest.Sampling asked) throws EngineException {
    try {
      return new Sampling(
          asked.temperature(), asked.topK(), asked.topP(), asked.minP(), asked.seed());
    } catch (IllegalArgumentException e) {
      throw new EngineException(Kind.BAD_REQUEST, "steelyard: " + e.getMessage(), e);
    }
  }

  /** Takes down what is generated, and when. */
  private static final class Generation {
    private final DecodeRequest request;
    private final TokenListener listener;
    private final int[] ids;
    private final long[] nanos;
    private final float[] margins;
    private int count;
    private long start;

    Generation(DecodeRequest request, TokenListener listener) {
      this.request = request;
      this.listener = listener;
      ids = new int[request.tokens()];
      nanos = new long[request.tokens()];
      margins = new float[request.margins() ? request.tokens() : 0];
    }

    void run(Session session, int input, Sampler sampler) {
      start = System.nanoTime();
      session.decode(input, request.tokens(), sampler, this::take);
    }

    private boolean take(int id, MemorySegment logits) {
      nanos[count] = System.nanoTime() - start;
      ids[count] = id;
      if (request.margins()) {
        margins[count] = Sampler.margin(logits);
      }
      count++;
      if (request.stream()) {
        listener.token(id);
      }
      return !request.stop().contains(id);
    }

    DecodeReport report() {
      return new DecodeReport(
          Arrays.copyOf(ids, count),
          Arrays.copyOf(nanos, count),
          Arrays.copyOf(margins, request.margins() ? count : 0));
    }
  }

  @Override
  public ForwardReport forward(ForwardRequest request) throws EngineException {
    LoadedModel model = loaded();
    if (request.ids().length < 1) {
      throw SteelyardOptions.bad("a forward pass takes at least one sequence");
    }
    for (int[] sequence : request.ids()) {
      if (sequence.length != request.ids()[0].length) {
        throw SteelyardOptions.bad("the sequences of a forward pass must be equally long");
      }
      check(model, sequence, sequence.length);
    }
    BestTokens best = new BestTokens();
    long start = System.nanoTime();
    for (int[] sequence : request.ids()) {
      model.reset();
      model.session().forward(sequence, 0, sequence.length, best::add);
    }
    return new ForwardReport(System.nanoTime() - start - best.nanos, best.checksum.getValue());
  }

  /** The checksum of a forward pass, and the time that it took. */
  private static final class BestTokens {
    private final CRC32 checksum = new CRC32();
    private long nanos;

    void add(MemorySegment logits) {
      long start = System.nanoTime();
      int id = Sampler.argmax(logits);
      for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
        checksum.update(id >>> shift);
      }
      nanos += System.nanoTime() - start;
    }
  }

  @Override
  public LayersReport layers(int[] ids, RowSink out) throws EngineException, IOException {
    LoadedModel model = loaded();
    check(model, ids, ids.length);
    if (ids.length > model.session().batch()) {
      throw SteelyardOptions.bad(
          "layers takes at most %d ids, not %d".formatted(model.session().batch(), ids.length));
    }
    List<String> names = new ArrayList<>();
    model.reset();
    try {
      model
          .session()
          .layers(
              ids,
              (layer, output, tokens) -> {
                names.add(layer == 0 ? "embedding" : "layer " + (layer - 1));
                for (int token = 0; token < tokens; token++) {
                  try {
                    out.row(output.row(token));
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                }
              });
    } catch (UncheckedIOException e) {
      model.reset();
      throw e.getCause();
    }
    return new LayersReport(names, model.model().config().hidden());
  }

  @Override
  public MemoryReport memory() throws EngineException {
    return new MemoryReport(loaded().bytes());
  }

  @Override
  public void reset() throws EngineException {
    loaded().reset();
  }

  @Override
  public void close() {
    loaded.ifPresent(LoadedModel::close);
    loaded = Optional.empty();
  }

  private LoadedModel loaded() throws EngineException {
    return loaded.orElseThrow(() -> SteelyardOptions.bad("no model is loaded; call load first"));
  }

  private static void check(LoadedModel model, int[] ids, long positions) throws EngineException {
    if (ids.length < 1) {
      throw SteelyardOptions.bad("there must be at least one id");
    }
    int capacity = model.session().capacity();
    if (positions > capacity) {
      throw SteelyardOptions.bad(
          "%d positions don't fit into the context of %d; load the model with a longer --context"
              .formatted(positions, capacity));
    }
    int vocabulary = model.model().config().vocabulary();
    for (int i = 0; i < ids.length; i++) {
      if (ids[i] < 0 || ids[i] >= vocabulary) {
        throw SteelyardOptions.bad(
            "id %d at place %d is outside the vocabulary of %d".formatted(ids[i], i, vocabulary));
      }
    }
  }
}

package io.steelyard.engines.steelyard;

import io.steelyard.engines.BestTokens;
import io.steelyard.engines.CodeChecksum;
import io.steelyard.engines.TokenLoop;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.machine.StartPages;
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
import io.steelyard.models.speculation.Speculation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Steelyard's own engine behind the worker protocol. */
public final class SteelyardEngine implements Engine {
  private final Map<String, String> environment;
  private final UnaryOperator<Kernels> arithmetic;

  /** Computed while the rest of the engine starts. */
  private final FutureTask<String> checksum =
      new FutureTask<>(
          () -> CodeChecksum.of("", Kernels.class, Model.class, SteelyardEngine.class));

  private Optional<LoadedModel> loaded = Optional.empty();

  /** Whether what only the start needed has been given back. */
  private boolean started;

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
    Thread.ofPlatform().daemon().name("steelyard-checksum").start(checksum);
  }

  @Override
  public EngineInfo hello() throws EngineException {
    String backend =
        loaded.isPresent()
            ? loaded.get().description()
            : Kernels.describe(SteelyardOptions.defaultTier(environment).tier());
    return new EngineInfo(
        SteelyardProvider.NAME,
        Optional.ofNullable(SteelyardEngine.class.getPackage().getImplementationVersion())
            .orElse("development"),
        backend,
        List.of(),
        Stream.of(DataType.values()).map(DataType::name).toList(),
        List.of("forward", "layers"),
        false,
        checksum());
  }

  private String checksum() throws EngineException {
    try {
      return checksum.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new EngineException(Kind.FAILED, "interrupted while Steelyard identified itself", e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof EngineException known
          ? known
          : new EngineException(Kind.FAILED, "Steelyard can't identify itself: " + e.getCause(), e);
    }
  }

  @Override
  public LoadReport load(LoadRequest request) throws EngineException {
    SteelyardOptions options = SteelyardOptions.of(request, environment);
    close();
    long start = System.nanoTime();
    LoadedModel model = LoadedModel.load(Path.of(request.model()), options, arithmetic);
    long nanos = System.nanoTime() - start;
    loaded = Optional.of(model);
    model.beginProfile();
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
    model.reset();
    model.session().<IOException>forward(ids, 0, ids.length, out::row);
  }

  @Override
  public PrefillReport prefill(PrefillRequest request) throws EngineException {
    LoadedModel model = loaded();
    int[] ids = request.ids();
    model.prepare(ids, request.depth());
    long start = System.nanoTime();
    MemorySegment logits = model.session().forward(ids, request.depth(), ids.length);
    model.slowdown().since(start);
    long nanos = System.nanoTime() - start;
    endStart();
    return new PrefillReport(nanos, TokenLoop.best(logits));
  }

  /**
   * Gives back what only the start needed, when the first pass is over: not before the first token,
   * for which a cold start waits.
   */
  private void endStart() {
    if (!started) {
      started = true;
      Thread.ofPlatform().daemon().name("steelyard-release").start(StartPages::release);
    }
  }

  @Override
  public DecodeReport decode(DecodeRequest request, TokenListener listener) throws EngineException {
    DecodeReport report = generate(request, listener);
    endStart();
    return report;
  }

  private DecodeReport generate(DecodeRequest request, TokenListener listener)
      throws EngineException {
    LoadedModel model = loaded();
    if (model.filling().isPresent()) {
      return new MaskFiller(model, model.filling().get()).run(request, listener);
    }
    TokenLoop loop = new TokenLoop(request, listener);
    int cached = request.ids().length - 1;
    if (model.speculation().isEmpty()) {
      model.prepare(request.ids(), cached);
      return loop.run(
          id -> {
            long start = System.nanoTime();
            MemorySegment logits = model.session().step(id);
            model.slowdown().since(start);
            return logits;
          });
    }
    if (request.sampling().temperature() > 0) {
      throw new EngineException(
          Kind.UNSUPPORTED,
          "steelyard: speculate=lookup is for greedy decoding; use temperature 0, or speculate=off");
    }
    Speculation speculation = model.speculation().get();
    model.prepare(request.ids(), cached);
    speculation.begin(request.ids(), cached);
    return loop.speculate(
        (id, most, verifier) -> {
          long start = System.nanoTime();
          speculation.pass(id, most, verifier);
          model.slowdown().since(start);
        });
  }

  @Override
  public ForwardReport forward(ForwardRequest request) throws EngineException {
    LoadedModel model = loaded();
    BestTokens best = new BestTokens();
    long start = System.nanoTime();
    for (int[] sequence : request.ids()) {
      model.reset();
      model.session().<EngineException>forward(sequence, 0, sequence.length, best::add);
    }
    model.slowdown().since(start);
    return new ForwardReport(System.nanoTime() - start - best.nanos(), best.checksum());
  }

  @Override
  public LayersReport layers(int[] ids, RowSink out) throws EngineException, IOException {
    LoadedModel model = loaded();
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
    Map<String, Long> parts = loaded().bytes();
    MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
    // What the heap began with is part of the runtime.
    parts.put("heap", Math.max(0, heap.getCommitted() - Math.max(0, heap.getInit())));
    return new MemoryReport(parts);
  }

  @Override
  public void reset() throws EngineException {
    LoadedModel model = loaded();
    model.reset();
    model.beginProfile();
  }

  @Override
  public void close() {
    Optional<LoadedModel> last = loaded;
    loaded = Optional.empty();
    last.ifPresent(LoadedModel::close);
  }

  private LoadedModel loaded() throws EngineException {
    return loaded.orElseThrow(() -> SteelyardOptions.bad("no model is loaded; call load first"));
  }
}

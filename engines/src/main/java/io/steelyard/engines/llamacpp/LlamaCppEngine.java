package io.steelyard.engines.llamacpp;

import io.steelyard.engines.BestTokens;
import io.steelyard.engines.CachedPrefix;
import io.steelyard.engines.CodeChecksum;
import io.steelyard.engines.InstalledEngine;
import io.steelyard.engines.ProcessFacts;
import io.steelyard.engines.TokenLoop;
import io.steelyard.engines.llamacpp.LlamaCppOptions.Flash;
import io.steelyard.lab.worker.Affinity;
import io.steelyard.lab.worker.DecodeReport;
import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.ForwardReport;
import io.steelyard.lab.worker.ForwardRequest;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.LoadRequest;
import io.steelyard.lab.worker.MemoryReport;
import io.steelyard.lab.worker.PrefillReport;
import io.steelyard.lab.worker.PrefillRequest;
import io.steelyard.lab.worker.RowSink;
import io.steelyard.lab.worker.TokenListener;
import io.steelyard.models.sampling.Sampler;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * llama.cpp as an engine of the worker protocol.
 *
 * <p>The worker checks every request before it reaches llama.cpp, which ends the process on ids or
 * lengths out of range.
 */
public final class LlamaCppEngine implements Engine {
  /** Rows of logits computed at once: enough to use the threads, few enough to bound memory. */
  private static final int LOGIT_ROWS = 64;

  private static final int MOST_SEQUENCES = 256;

  private static final List<String> PRECISIONS =
      List.of(
          "F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K",
          "Q5_K", "Q6_K", "IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S",
          "IQ4_NL", "IQ4_XS", "TQ1_0", "TQ2_0", "MXFP4", "NVFP4", "Q1_0", "Q2_0");

  private final LlamaCppInstaller installer;
  private Optional<Path> directory = Optional.empty();
  private Optional<Session> session = Optional.empty();

  /** An engine that uses the libraries installed for this user. */
  public LlamaCppEngine() {
    this(LlamaCppInstaller.ofEnvironment());
  }

  LlamaCppEngine(LlamaCppInstaller installer) {
    this.installer = installer;
    LlamaCppLibrary.link();
  }

  /** A loaded model. */
  private static final class Session {
    final LlamaCppLibrary library;
    final LlamaCppOptions options;
    final LlamaModel model;
    final LlamaContext context;
    final int vocabulary;
    final CachedPrefix prefix = new CachedPrefix();
    Map<String, Long> bytes = Map.of();

    Session(
        LlamaCppLibrary library, LlamaCppOptions options, LlamaModel model, LlamaContext context) {
      this.library = library;
      this.options = options;
      this.model = model;
      this.context = context;
      this.vocabulary = model.vocabulary();
    }
  }

  @Override
  public EngineInfo hello() throws EngineException {
    directory();
    // Loading the library is part of the engine's own start, so it is left to the first load.
    Optional<LoadedLibrary> library = LoadedLibrary.loaded();
    String variant =
        library
            .map(LoadedLibrary::variant)
            .orElseGet(() -> ProcessorVariant.best(ProcessFacts.processorFlags()));
    return new EngineInfo(
        LlamaCppProvider.NAME,
        LlamaCppRelease.VERSION,
        variant,
        library.map(LoadedLibrary::files).orElse(List.of()),
        PRECISIONS,
        List.of("forward"),
        true,
        CodeChecksum.of(
            variant + new TreeMap<>(LlamaCppRelease.LIBRARIES),
            LlamaCppEngine.class,
            Sampler.class));
  }

  @Override
  public LoadReport load(LoadRequest request) throws EngineException {
    LlamaCppOptions options = LlamaCppOptions.of(request);
    LoadedLibrary loaded = LoadedLibrary.load(directory());
    LlamaCppLibrary library = loaded.library();
    unload();
    library.log().clear();
    Path file = Path.of(request.model());
    WeightFacts.Reading weights = WeightFacts.read(file);
    long start = System.nanoTime();
    LlamaModel model = LlamaModel.load(library, file, options);
    long modelReady = System.nanoTime();
    LlamaContext context;
    try {
      checkMemory(options.context(), model.cacheBytesPerToken(options.kv()));
      context = new LlamaContext(library, model, options, options.context(), 1, LOGIT_ROWS);
    } catch (EngineException e) {
      model.close();
      throw e;
    }
    long contextReady = System.nanoTime();
    Session opened = new Session(library, options, model, context);
    session = Optional.of(opened);
    if (!context.hasMemory()) {
      unload();
      throw new EngineException(
          Kind.BAD_MODEL, file + " is a model without a KV cache; llamacpp runs decoders only");
    }
    opened.bytes = bytes(library.log());
    Map<String, Long> phases = new LinkedHashMap<>();
    phases.put("library", loaded.nanos());
    phases.put("load", modelReady - start);
    phases.put("context", contextReady - modelReady);
    return new LoadReport(
        phases, opened.bytes, loaded.files(), settings(opened, library.log(), weights));
  }

  @Override
  public int[] tokenize(String text, boolean parseSpecial) throws EngineException {
    return session().model.tokenize(text, parseSpecial);
  }

  @Override
  public void logits(int[] ids, RowSink out) throws EngineException, IOException {
    Session s = session();
    reset();
    int chunk = Math.min(LOGIT_ROWS, s.context.batchLimit());
    try {
      for (int start = 0; start < ids.length; start += chunk) {
        int end = Math.min(ids.length, start + chunk);
        s.context.appendForAll(ids, start, end);
        for (int i = 0; i < end - start; i++) {
          out.row(s.context.logits(i));
        }
      }
    } finally {
      s.context.clear();
    }
  }

  @Override
  public PrefillReport prefill(PrefillRequest request) throws EngineException {
    Session s = session();
    int[] ids = request.ids();
    prepare(s, ids, request.depth());
    long start = System.nanoTime();
    MemorySegment logits = s.context.appendForLast(ids, request.depth(), ids.length);
    long nanos = System.nanoTime() - start;
    return new PrefillReport(nanos, TokenLoop.best(logits));
  }

  @Override
  public DecodeReport decode(DecodeRequest request, TokenListener listener) throws EngineException {
    Session s = session();
    TokenLoop loop = new TokenLoop(request, listener);
    prepare(s, request.ids(), request.ids().length - 1);
    return loop.run(s.context::append);
  }

  @Override
  public ForwardReport forward(ForwardRequest request) throws EngineException {
    Session s = session();
    int[][] ids = request.ids();
    if (ids.length > MOST_SEQUENCES) {
      throw bad(
          "a forward pass takes at most %d sequences, not %d"
              .formatted(MOST_SEQUENCES, ids.length));
    }
    long tokens = (long) ids.length * (ids[0].length + 256);
    checkMemory(tokens, s.model.cacheBytesPerToken(s.options.kv()));
    BestTokens best = new BestTokens();
    try (LlamaContext context =
        new LlamaContext(
            s.library,
            s.model,
            s.options.withBatch(s.options.ubatch()),
            ids[0].length,
            ids.length,
            s.options.ubatch())) {
      long nanos = context.forward(ids, best::add);
      return new ForwardReport(nanos, best.checksum());
    }
  }

  @Override
  public MemoryReport memory() throws EngineException {
    return new MemoryReport(session().bytes);
  }

  @Override
  public void reset() throws EngineException {
    Session s = session();
    s.context.clear();
    s.prefix.clear();
  }

  @Override
  public void close() {
    unload();
  }

  /** Makes the cache hold exactly the first {@code length} ids. */
  private static void prepare(Session s, int[] ids, int length) throws EngineException {
    int pass =
        s.context.batchLimit() % s.options.ubatch() == 0
            ? s.options.ubatch()
            : s.context.batchLimit();
    int kept = s.prefix.reusable(ids, length, pass);
    s.prefix.clear();
    if (kept == 0 || !s.context.rewind(kept)) {
      kept = 0;
      s.context.clear();
    }
    s.context.append(ids, kept, length);
    s.prefix.set(ids, length);
  }

  /** Refuses a cache that can't fit: the kernel would kill the process that fills it. */
  private static void checkMemory(long tokens, long bytesPerToken) throws EngineException {
    double needed = (double) tokens * bytesPerToken;
    OptionalLong free = ProcessFacts.availableMemory();
    if (free.isPresent() && needed > free.getAsLong()) {
      throw bad(
          "a KV cache of %d tokens takes about %.1f GB and %.1f GB are free; use a shorter --context"
              .formatted(tokens, needed / 1e9, free.getAsLong() / 1e9));
    }
  }

  private static LoadReport.Settings settings(
      Session s, LlamaCppLog log, WeightFacts.Reading reading) {
    WeightFacts weights = reading.of(s.model);
    boolean flash =
        s.options.flash() != Flash.OFF
            && !log.mentions("Flash Attention not supported")
            && !log.mentions("forcing off");
    return new LoadReport.Settings(
        weights.precision(),
        s.options.kv().label(),
        // Its flash attention multiplies in float16 even over a float32 cache.
        weights.activations() + (flash ? ", f16 in flash attention" : ""),
        s.context.threads(),
        Affinity.current(),
        s.context.batchLimit(),
        s.context.capacity(),
        flash,
        s.vocabulary,
        s.model.layers(),
        s.model.parameters());
  }

  private static Map<String, Long> bytes(LlamaCppLog log) {
    Map<String, Long> bytes = new LinkedHashMap<>();
    bytes.put("weights", log.bufferBytes("model"));
    bytes.put("kv", log.bufferBytes("KV") + log.bufferBytes("RS"));
    bytes.put("activations", log.bufferBytes("compute") + log.bufferBytes("output"));
    return Map.copyOf(bytes);
  }

  private Path directory() throws EngineException {
    if (directory.isEmpty()) {
      InstalledEngine installed = installer.status();
      directory = installed.directory();
      if (directory.isEmpty()) {
        throw new EngineException(Kind.MISSING, installed.message());
      }
    }
    return directory.get();
  }

  private Session session() throws EngineException {
    return session.orElseThrow(
        () -> new EngineException(Kind.BAD_REQUEST, "no model is loaded; call load first"));
  }

  private void unload() {
    session.ifPresent(
        s -> {
          s.context.close();
          s.model.close();
        });
    session = Optional.empty();
  }

  private static EngineException bad(String message) {
    return new EngineException(Kind.BAD_REQUEST, "llamacpp: " + message);
  }
}

package io.steelyard.engines.llamacpp;

import io.steelyard.engines.InstalledEngine;
import io.steelyard.engines.ProcessFacts;
import io.steelyard.engines.llamacpp.LlamaCppOptions.Flash;
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
import io.steelyard.models.sampling.Sampling;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.zip.CRC32;

/**
 * llama.cpp as an engine of the worker protocol.
 *
 * <p>Every request is checked before it reaches llama.cpp, which ends the process on ids or lengths
 * out of range. Tokens before the timed ones are computed in one go and kept: a second request with
 * the same ones finds the cache exactly as the first did, so that its numbers are the same too.
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

  /** A loaded model; {@code prefix} is what the cache holds from one go. */
  private static final class Session {
    final LlamaCppLibrary library;
    final LlamaCppOptions options;
    final LlamaModel model;
    final LlamaContext context;
    final int vocabulary;
    int[] prefix = new int[0];
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
            .orElseGet(() -> ProcessorVariant.best(SystemFacts.processorFlags()));
    return new EngineInfo(
        LlamaCppProvider.NAME,
        LlamaCppRelease.VERSION,
        variant,
        library.map(LoadedLibrary::files).orElse(List.of()),
        PRECISIONS,
        List.of("forward"),
        true,
        AdapterBuild.checksum(variant));
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
    check(s, ids, ids.length);
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
    check(s, ids, ids.length);
    if (request.depth() < 0 || request.depth() >= ids.length) {
      throw bad(
          "the depth must leave something to time: 0 to %d for %d ids, not %d"
              .formatted(ids.length - 1, ids.length, request.depth()));
    }
    prepare(s, ids, request.depth());
    long start = System.nanoTime();
    MemorySegment logits = s.context.appendForLast(ids, request.depth(), ids.length);
    long nanos = System.nanoTime() - start;
    return new PrefillReport(nanos, checked(Sampler.argmax(logits), logits));
  }

  @Override
  public DecodeReport decode(DecodeRequest request, TokenListener listener) throws EngineException {
    Session s = session();
    int[] prompt = request.ids();
    if (request.tokens() < 1) {
      throw bad("the number of tokens to generate must be at least 1, not " + request.tokens());
    }
    check(s, prompt, (long) prompt.length - 1 + request.tokens());
    Sampler sampler = new Sampler(sampling(request.sampling()));
    prepare(s, prompt, prompt.length - 1);
    int[] ids = new int[request.tokens()];
    long[] nanos = new long[request.tokens()];
    float[] margins = new float[request.margins() ? request.tokens() : 0];
    int input = prompt[prompt.length - 1];
    int count = 0;
    long start = System.nanoTime();
    while (count < ids.length) {
      MemorySegment logits = s.context.append(input);
      input = checked(sampler.next(logits), logits);
      nanos[count] = System.nanoTime() - start;
      ids[count] = input;
      if (request.margins()) {
        margins[count] = Sampler.margin(logits);
      }
      count++;
      if (request.stream()) {
        listener.token(input);
      }
      if (request.stop().contains(input)) {
        break;
      }
    }
    return new DecodeReport(
        Arrays.copyOf(ids, count),
        Arrays.copyOf(nanos, count),
        Arrays.copyOf(margins, request.margins() ? count : 0));
  }

  @Override
  public ForwardReport forward(ForwardRequest request) throws EngineException {
    Session s = session();
    int[][] ids = request.ids();
    if (ids.length < 1 || ids.length > MOST_SEQUENCES) {
      throw bad(
          "a forward pass takes 1 to %d sequences, not %d".formatted(MOST_SEQUENCES, ids.length));
    }
    for (int[] sequence : ids) {
      if (sequence.length != ids[0].length) {
        throw bad("the sequences of a forward pass must be equally long");
      }
      check(s, sequence, sequence.length);
    }
    long tokens = (long) ids.length * (ids[0].length + 256);
    checkMemory(tokens, s.model.cacheBytesPerToken(s.options.kv()));
    CRC32 checksum = new CRC32();
    byte[] best = new byte[Integer.BYTES];
    try (LlamaContext context =
        new LlamaContext(
            s.library,
            s.model,
            s.options.withBatch(s.options.ubatch()),
            ids[0].length,
            ids.length,
            s.options.ubatch())) {
      long nanos =
          context.forward(
              ids,
              row -> {
                int id = checked(Sampler.argmax(row), row);
                for (int i = 0; i < best.length; i++) {
                  best[i] = (byte) (id >>> (8 * i));
                }
                checksum.update(best);
              });
      return new ForwardReport(nanos, checksum.getValue());
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
    s.prefix = new int[0];
  }

  @Override
  public void close() {
    unload();
  }

  /** Makes the cache hold exactly the first {@code length} ids, computed in one go. */
  private static void prepare(Session s, int[] ids, int length) throws EngineException {
    boolean same = Arrays.equals(s.prefix, 0, s.prefix.length, ids, 0, length);
    if (same && length > 0 && s.context.rewind(length)) {
      return;
    }
    s.prefix = new int[0];
    s.context.clear();
    s.context.append(ids, 0, length);
    s.prefix = Arrays.copyOf(ids, length);
  }

  private static void check(Session s, int[] ids, long positions) throws EngineException {
    if (ids.length < 1) {
      throw bad("there must be at least one id");
    }
    if (positions > s.options.context()) {
      throw bad(
          "%d positions don't fit into the context of %d; load the model with a longer --context"
              .formatted(positions, s.options.context()));
    }
    for (int i = 0; i < ids.length; i++) {
      if (ids[i] < 0 || ids[i] >= s.vocabulary) {
        throw bad(
            "id %d at place %d is outside the vocabulary of %d".formatted(ids[i], i, s.vocabulary));
      }
    }
  }

  /** A chosen id, unless the logits gave nothing to choose by. */
  private static int checked(int id, MemorySegment logits) throws EngineException {
    if (!Float.isFinite(logits.getAtIndex(ValueLayout.JAVA_FLOAT, id))) {
      throw new EngineException(
          Kind.FAILED,
          "llama.cpp computed logits that are no numbers; the model file may be damaged");
    }
    return id;
  }

  private static Sampling sampling(DecodeRequest.Sampling asked) throws EngineException {
    try {
      return new Sampling(
          asked.temperature(), asked.topK(), asked.topP(), asked.minP(), asked.seed());
    } catch (IllegalArgumentException e) {
      throw bad(e.getMessage());
    }
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
        weights.activations(),
        s.context.threads(),
        ProcessFacts.affinity(),
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

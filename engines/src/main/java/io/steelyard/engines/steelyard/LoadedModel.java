package io.steelyard.engines.steelyard;

import io.steelyard.engines.CachedPrefix;
import io.steelyard.engines.ProcessFacts;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.kernels.UnfusedKernels;
import io.steelyard.lab.worker.Affinity;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.models.Model;
import io.steelyard.models.ModelException;
import io.steelyard.models.Session;
import io.steelyard.models.architecture.Config;
import io.steelyard.models.speculation.Speculation;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;

/** A model with its kernels and one session, and what the session's cache holds. */
final class LoadedModel implements AutoCloseable {
  private final Kernels kernels;
  private final Model model;
  private final Session session;
  private final SteelyardOptions options;
  private final Optional<Speculation> speculation;
  private final Optional<Profiler> profiler;
  private final CachedPrefix prefix = new CachedPrefix();

  private LoadedModel(
      Kernels kernels,
      Model model,
      Session session,
      SteelyardOptions options,
      Optional<Profiler> profiler) {
    this.kernels = kernels;
    this.model = model;
    this.session = session;
    this.options = options;
    speculation = options.lookup() ? Optional.of(new Speculation(session)) : Optional.empty();
    this.profiler = profiler;
  }

  static LoadedModel load(Path path, SteelyardOptions options, UnaryOperator<Kernels> arithmetic)
      throws EngineException {
    Kernels plain;
    try {
      plain =
          arithmetic.apply(Kernels.of(options.tier(), options.threads(), options.deterministic()));
    } catch (UnsupportedOperationException e) {
      throw new EngineException(Kind.UNSUPPORTED, "steelyard: " + e.getMessage(), e);
    }
    Optional<Profiler> profiler = options.profile().map(folder -> new Profiler(folder, plain));
    Kernels counted = profiler.<Kernels>map(Profiler::kernels).orElse(plain);
    Kernels kernels = options.fused() ? counted : new UnfusedKernels(counted);
    try {
      Model model = Model.load(path, kernels);
      try {
        checkCache(model.config(), options);
        Session session = model.newSession(options.context(), options.kv());
        checkFilling(session, options);
        return new LoadedModel(kernels, model, session, options, profiler);
      } catch (OutOfMemoryError e) {
        model.close();
        throw tooLarge(model.config(), options, e);
      } catch (EngineException | RuntimeException e) {
        model.close();
        throw e;
      }
    } catch (ModelException e) {
      kernels.close();
      throw new EngineException(Kind.BAD_MODEL, e.getMessage(), e);
    } catch (EngineException | RuntimeException e) {
      kernels.close();
      throw e;
    }
  }

  private static void checkCache(Config config, SteelyardOptions options) throws EngineException {
    if (config.headDimension() % options.kv().blockSize() != 0) {
      throw new EngineException(
          Kind.BAD_REQUEST,
          "steelyard: kv=q8_0 needs heads of a multiple of 32 values, and this model's have %d; use kv=f16"
              .formatted(config.headDimension()));
    }
    OptionalLong free = ProcessFacts.availableMemory();
    if (free.isPresent() && cacheBytes(config, options) > free.getAsLong()) {
      throw tooLarge(config, options, null);
    }
  }

  private static void checkFilling(Session session, SteelyardOptions options)
      throws EngineException {
    boolean causal = session.causal();
    if (causal && options.filling().asked()) {
      session.close();
      throw new EngineException(
          Kind.BAD_REQUEST,
          "steelyard: algorithm, steps, block, cache and confidence are for models that are trained to"
              + " fill in masks, such as Dream or synth:dream-s; this one generates token by token");
    }
    if (!causal && options.lookup()) {
      session.close();
      throw new EngineException(
          Kind.BAD_REQUEST,
          "steelyard: speculate=lookup is for models that generate token by token; this one fills in"
              + " masks");
    }
  }

  private static double cacheBytes(Config config, SteelyardOptions options) {
    int width = config.kvHeads() * config.headDimension();
    double bytes = (double) options.kv().blockBytes() / options.kv().blockSize();
    return 2.0 * config.layers() * width * bytes * options.context();
  }

  private static EngineException tooLarge(
      Config config, SteelyardOptions options, OutOfMemoryError cause) {
    return new EngineException(
        Kind.BAD_REQUEST,
        "steelyard: a KV cache of %d tokens takes %.1f GB, more than is free; use a shorter --context"
            .formatted(options.context(), cacheBytes(config, options) / 1e9),
        cause);
  }

  Model model() {
    return model;
  }

  Session session() {
    return session;
  }

  /** How several tokens come of a pass, if that was asked for. */
  Optional<Speculation> speculation() {
    return speculation;
  }

  /** By how much every pass is to take longer. */
  Slowdown slowdown() {
    return options.slowdown();
  }

  /** How masks are filled in, by a model that sees both directions. */
  Optional<Filling> filling() {
    return session.causal() ? Optional.empty() : Optional.of(options.filling());
  }

  /** The kernels in use, and what else decides how tokens are computed. */
  String description() {
    return kernels.description()
        + (options.lookup() ? ", prompt lookup" : "")
        + options.filling().description()
        + options.slowdown().description();
  }

  /** Begins anew to measure the operators, if they are measured. */
  void beginProfile() throws EngineException {
    if (profiler.isPresent()) {
      profiler.get().begin();
    }
  }

  /** Forgets every cached token. */
  void reset() {
    prefix.clear();
    session.truncate(0);
  }

  /**
   * Makes the cache hold exactly the first {@code length} ids; no part of what is timed or
   * profiled.
   */
  void prepare(int[] ids, int length) {
    profiler.ifPresent(p -> p.kernels().measure(false));
    try {
      fill(ids, length);
    } finally {
      profiler.ifPresent(p -> p.kernels().measure(true));
    }
  }

  private void fill(int[] ids, int length) {
    int kept = prefix.reusable(ids, length, session.batch());
    prefix.clear();
    session.truncate(kept);
    session.advance(ids, kept, length);
    prefix.set(ids, length);
  }

  /** Bytes by part. */
  Map<String, Long> bytes() {
    Map<String, Long> bytes = new LinkedHashMap<>();
    bytes.put("weights", model.weightBytes() - model.ownedWeightBytes());
    bytes.put("repacked", model.ownedWeightBytes());
    bytes.put("kv", session.cacheBytes());
    bytes.put("activations", session.activationBytes() + kernels.scratchBytes());
    return bytes;
  }

  /** What is in force, read back. */
  LoadReport.Settings settings() {
    Config config = model.config();
    return new LoadReport.Settings(
        model.precision(),
        session.kvType().name().toLowerCase(Locale.ROOT),
        model.activations(),
        kernels.threads(),
        Affinity.current(),
        session.batch(),
        session.capacity(),
        // The reference tier computes all of a row's scores; the others tile.
        options.tier() != Tier.REFERENCE,
        config.vocabulary(),
        config.layers(),
        model.parameters());
  }

  @Override
  public void close() {
    session.close();
    model.close();
    kernels.close();
    // Last, since it may fail: then nothing else is left open.
    profiler.ifPresent(Profiler::close);
  }
}

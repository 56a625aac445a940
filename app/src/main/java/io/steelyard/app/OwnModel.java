package io.steelyard.app;

import io.steelyard.engines.steelyard.Profiler;
import io.steelyard.engines.steelyard.SteelyardProvider;
import io.steelyard.kernels.ChosenTier;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.models.Model;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A model in this process, on Steelyard's own engine: for what a worker's protocol, which speaks of
 * one sequence whose tokens follow each other, can't say.
 */
record OwnModel(Kernels kernels, Model model, Optional<Profiler> profiler)
    implements AutoCloseable {
  /** Whether it is this engine, with no options that only a worker has. */
  static boolean runs(EngineSpec engine) {
    return engine.name().equals(SteelyardProvider.NAME)
        && engine.options().keySet().stream().allMatch("tier"::equals);
  }

  /**
   * As {@link #serving}, of this engine alone.
   *
   * @param option that needs this engine, for the message
   * @throws UsageException if it is another engine, or has other options
   */
  static Tier tier(String option, EngineSpec engine) {
    if (!runs(engine)) {
      throw new UsageException(
          "%s runs with --engine steelyard, or steelyard:tier=%s, not with %s"
              .formatted(option, Tier.labels(), engine.text()));
    }
    return serving(engine.options());
  }

  /**
   * The tier that the engine's options ask for, or that serves where they don't; if that is for
   * want of machine code, a line on stderr says so. A command asks once.
   *
   * @throws UsageException if the one that is named, or forced by the environment, is none
   */
  static Tier serving(Map<String, String> options) {
    ChosenTier chosen = chosen(options);
    tell(chosen);
    return chosen.tier();
  }

  /** As {@link #serving} says it, of those of the engines that are this one: each line once. */
  static void tell(Stream<EngineSpec> engines) {
    engines
        .filter(engine -> engine.name().equals(SteelyardProvider.NAME))
        .map(engine -> chosen(engine.options()))
        .distinct()
        .forEach(OwnModel::tell);
  }

  private static ChosenTier chosen(Map<String, String> options) {
    try {
      return SteelyardProvider.tier(options);
    } catch (EngineException e) {
      throw new UsageException(e.getMessage());
    }
  }

  /** Says on stderr what there is to say of a tier. */
  static void tell(ChosenTier chosen) {
    if (!chosen.notice().isEmpty()) {
      new Console().note("steelyard: " + chosen.notice());
    }
  }

  /** The vector tier runs in any process that is started for it, though not in this one. */
  static boolean runsHere(Tier tier) {
    return tier == Tier.VECTOR || Kernels.available(tier);
  }

  /**
   * Refuses a tier that was asked for and can't run.
   *
   * @throws UsageException if it can't
   */
  static void requireHere(Tier tier) {
    if (!runsHere(tier)) {
      throw new UsageException(
          "--tier %s can't run here: %s".formatted(tier.label(), Kernels.obstacle(tier)));
    }
  }

  /**
   * As {@link #serving} where no option names a tier, in a process that has all its modules.
   *
   * @throws UsageException if one is forced that can't run on this machine
   */
  static Tier usualTier() {
    Tier tier = serving(Map.of());
    if (!runsHere(tier)) {
      throw new UsageException(
          "the %s tier, which the environment asks for, can't run here: %s"
              .formatted(tier.label(), Kernels.obstacle(tier)));
    }
    return tier;
  }

  /**
   * Loads a model.
   *
   * @throws UsageException if the tier can't run in this process
   */
  static OwnModel load(Path file, Tier tier, int threads, boolean deterministic) {
    return load(file, tier, threads, deterministic, Optional.empty());
  }

  /**
   * Loads a model.
   *
   * @param profile the folder for a profile, if one is to be made
   * @throws UsageException if the tier can't run in this process
   */
  static OwnModel load(
      Path file, Tier tier, int threads, boolean deterministic, Optional<Path> profile) {
    Kernels plain;
    try {
      plain = Kernels.of(tier, threads, deterministic);
    } catch (UnsupportedOperationException e) {
      throw new UsageException("--engine: " + e.getMessage());
    }
    Optional<Profiler> profiler = profile.map(folder -> new Profiler(folder, plain));
    Kernels kernels = profiler.<Kernels>map(Profiler::kernels).orElse(plain);
    try {
      return new OwnModel(kernels, Model.load(file, kernels), profiler);
    } catch (RuntimeException | Error e) {
      kernels.close();
      throw e;
    }
  }

  /**
   * The type of a KV cache for this model.
   *
   * @throws UsageException if its heads don't fit it
   */
  DataType kvType(String label) {
    DataType type = DataType.valueOf(label.toUpperCase(Locale.ROOT));
    if (model.config().headDimension() % type.blockSize() != 0) {
      throw new UsageException(
          "--kv %s needs heads of a multiple of %d values, and this model's have %d: take f16"
              .formatted(label, type.blockSize(), model.config().headDimension()));
    }
    return type;
  }

  /** Begins the profile, if there is one to be made; what was before is forgotten. */
  void beginProfile() {
    profiler.ifPresent(MeasuringProcess::begin);
  }

  /** Whether what runs from now on belongs into the profile, if there is one. */
  void profile(boolean on) {
    profiler.ifPresent(each -> each.kernels().measure(on));
  }

  @Override
  public void close() {
    model.close();
    kernels.close();
    // Last, since it may fail: then nothing else is left open.
    profiler.ifPresent(Profiler::close);
  }
}

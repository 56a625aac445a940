package io.steelyard.app;

import io.steelyard.kernels.Tier;
import io.steelyard.lab.study.Limits;
import io.steelyard.lab.study.Workload;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.reports.terminal.Format;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A model and how Steelyard's own engine runs it, for what is measured outside of a study. */
final class OwnEngineOptions {
  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      defaultValue = "default",
      description =
          "a name of 'model list', a GGUF file, a folder with safetensors, or synth:SHAPE[:TYPE[:SEED]]")
  private String model;

  @Option(
      names = "--tier",
      paramLabel = "TIER",
      description = "kernels; default: the fastest that runs here")
  private Tier tier;

  @Option(
      names = "--kv",
      paramLabel = "TYPE",
      defaultValue = "f16",
      description = "type of the KV caches: f16, f32 or q8_0")
  private String kv;

  @Option(
      names = "--deterministic",
      description =
          "one numeric path for every number of tokens; then a sequence must get the same tokens"
              + " however it is processed, which is checked")
  private boolean deterministic;

  @Mixin private ThreadsOption threads;

  @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = "of prompts, order")
  long seed;

  @Option(names = "--json", description = "print one JSON document on stdout instead of the table")
  boolean json;

  private ResolvedModel resolved;

  /**
   * How a model is run.
   *
   * @param name what people call the model
   * @param kv type of the KV caches
   */
  record Setting(Path file, String name, Tier tier, int threads, boolean deterministic, String kv) {
    OwnModel load(Optional<Path> profile) {
      return OwnModel.load(file, tier, threads, deterministic, profile);
    }

    /** What this machine and the model allow, if the machine was measured. */
    Optional<Limits> limits() {
      return Calibration.of(Home.cache()).limits(file, threads);
    }

    /**
     * The least time of calls that follow each other ÷ the time they took.
     *
     * @return null where it isn't known
     */
    Double ofLimit(Optional<Limits> limits, List<Workload> calls, double seconds) {
      double least = 0;
      for (Workload call : calls) {
        least += limits.map(of -> of.leastSeconds(call, kv).orElse(Double.NaN)).orElse(Double.NaN);
      }
      return Double.isNaN(least) ? null : Double.valueOf(least / seconds);
    }

    /** In words, for the head of a table. */
    String text(String machine, String kernels) {
      return "%s, %s; %s; %s%s, KV cache %s"
          .formatted(
              machine,
              Format.count(threads, "thread"),
              name,
              kernels,
              deterministic ? ", deterministic" : "",
              kv);
    }
  }

  /** Checks what was asked for; then the model is found, or fetched. */
  Setting resolve(Console console) {
    int team = threads.count();
    StudyOptions.requireKvType(kv);
    Tier chosen = tier == null ? OwnModel.usualTier() : tier;
    OwnModel.requireHere(chosen);
    resolved = Models.resolve(model, console);
    return new Setting(
        resolved.file().toAbsolutePath(), resolved.name(), chosen, team, deterministic, kv);
  }

  /** As {@link Models#checkContext}, of the model that was found. */
  void checkContext(int positions) {
    Models.checkContext(resolved, positions);
  }
}

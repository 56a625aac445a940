package io.steelyard.app;

import io.steelyard.engines.steelyard.SteelyardProvider;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.models.ModelFile;
import io.steelyard.models.catalogue.ResolvedModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What studies of models have in common: the model, the settings, how much is measured. */
final class StudyOptions {
  /** Contexts are rounded up to this, so that a token more or less changes nothing else. */
  private static final int CONTEXT_STEP = 256;

  private static final int MOST_THREADS = 1024;

  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      defaultValue = "default",
      description =
          "a name of 'model list', a GGUF file, a folder with safetensors, or synth:SHAPE[:TYPE[:SEED]]")
  String model;

  @Option(
      names = {"-e", "--engine"},
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      paramLabel = "ENGINE",
      description =
          "name[:key=value,…] of an engine of 'engines list', or a program that speaks the worker"
              + " protocol; repeatable")
  List<String> engines = new ArrayList<>();

  @Option(names = "--prompt", paramLabel = "N", defaultValue = "512", description = "prompt tokens")
  int prompt;

  @Option(names = "--gen", paramLabel = "N", defaultValue = "64", description = "generated tokens")
  int generate;

  @Option(
      names = "--depth",
      paramLabel = "N",
      defaultValue = "0",
      description = "tokens in the KV cache before the clock starts")
  int depth;

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description =
          "a text to measure with, instead of prompts of --prompt tokens from Steelyard's own: prefill"
              + " processes it, decode goes on from it")
  Path text;

  @Option(
      names = "--context",
      paramLabel = "N",
      description = "tokens that the KV cache holds (default: what the workloads need)")
  Integer context;

  @Option(
      names = {"-t", "--threads"},
      paramLabel = "N",
      description = "compute threads (default: all processors)")
  Integer threads;

  @Option(
      names = "--kv",
      paramLabel = "TYPE",
      defaultValue = "auto",
      description = "type of the KV cache: f16, f32, q8_0 or auto (f16, but f32 for F32 weights)")
  String kv;

  @Option(
      names = "--flash",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      negatable = true,
      defaultValue = "true",
      fallbackValue = "true",
      description = "flash attention where an engine has the choice (default: on)")
  boolean flash;

  @Mixin DesignOptions design;

  /** Builds the study and checks that it makes sense. */
  Study study(
      String command,
      ResolvedModel resolved,
      List<String> specs,
      String baseline,
      List<String> metrics,
      int batch,
      double margin,
      List<String> allowed) {
    check();
    Optional<List<Integer>> ids =
        Optional.ofNullable(text).map(file -> Models.tokens(resolved, file));
    Map<String, Study.Engine> labelled = engines(specs);
    String against = baseline(baseline, labelled);
    Study draft =
        Study.builder(command)
            .model(model(resolved))
            .engines(labelled)
            .baseline(against)
            .metrics(metrics)
            .shape(new Study.Shape(ids.map(List::size).orElse(prompt), generate, depth, batch, ids))
            .settings(new Study.Settings(1, 1, kv, flash, ""))
            .design(design.of(margin, 3))
            .allowed(allowed)
            .build();
    int needed = draft.workloads().stream().mapToInt(Workload::context).max().orElseThrow();
    int rounded = (Math.max(needed, CONTEXT_STEP) + CONTEXT_STEP - 1) / CONTEXT_STEP * CONTEXT_STEP;
    if (context != null && context < needed) {
      throw new UsageException(
          "--context "
              + context
              + " is too short: these workloads need "
              + needed
              + " tokens; leave it out or shorten --prompt, --gen or --depth");
    }
    Study.Settings settings =
        new Study.Settings(
            threads == null ? Runtime.getRuntime().availableProcessors() : threads,
            context == null ? rounded : context,
            kv.equals("auto") ? Models.defaultKv(resolved) : kv,
            flash,
            Environment.affinity());
    Models.checkContext(resolved, needed);
    return draft.toBuilder()
        .settings(settings)
        .limits(Calibration.of(Home.cache()).limits(resolved.file(), settings.threads()))
        .build();
  }

  /** A model as a study names it. */
  static Study.Model model(ResolvedModel resolved) {
    return new Study.Model(
        resolved.name(),
        resolved.file().toAbsolutePath().toString(),
        resolved.sha256(),
        resolved.random(),
        ModelFile.bytes(resolved.file()));
  }

  private void check() {
    between("--prompt", prompt, 1, 1 << 20);
    between("--gen", generate, 1, 1 << 20);
    between("--depth", depth, 0, 1 << 20);
    if (threads != null) {
      between("--threads", threads, 1, MOST_THREADS);
    }
    if (text != null && depth > 0) {
      throw new UsageException("--depth is for Steelyard's own texts: leave it out with --text");
    }
    requireKvType(kv, "auto");
  }

  /** An engine as given on the command line, with one more option. */
  static String withOption(String engine, String option) {
    return engine + (engine.contains(":") ? "," : ":") + option;
  }

  /** Refuses what is neither a type of the KV cache nor one of these. */
  static void requireKvType(String kv, String... others) {
    List<String> known = new ArrayList<>(List.of("f16", "f32", "q8_0"));
    known.addAll(List.of(others));
    if (!known.contains(kv)) {
      throw new UsageException("--kv " + kv + " is none of " + String.join(", ", known));
    }
  }

  static void between(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new UsageException(
          option + " " + value + " is out of range: it takes " + least + " to " + most);
    }
  }

  private static Map<String, Study.Engine> engines(List<String> specs) {
    Map<String, Study.Engine> labelled = new LinkedHashMap<>();
    for (String text : specs) {
      EngineSpec spec = parse(text);
      String label = label(spec);
      if (labelled.containsKey(label)) {
        throw new UsageException(
            "two engines have the label '"
                + label
                + "': give one of them another, such as --engine "
                + text
                + (text.contains(":") ? "," : ":")
                + "label=again");
      }
      checkNumber(spec, "threads", MOST_THREADS);
      checkNumber(spec, "context", Integer.MAX_VALUE);
      labelled.put(label, new Study.Engine(text, spec.name(), spec.options()));
    }
    return labelled;
  }

  /** What is interpreted is called so in every row. */
  static String label(EngineSpec spec) {
    boolean told =
        !SteelyardProvider.isInterpreted(spec.options())
            || spec.label().contains(SteelyardProvider.INTERPRET);
    return told ? spec.label() : spec.label() + " (interpreted)";
  }

  /** The options that stand for settings are numbers for every engine. */
  private static void checkNumber(EngineSpec spec, String option, int most) {
    String value = spec.options().get(option);
    if (value == null) {
      return;
    }
    String where = "--engine " + spec.text() + ": " + option;
    try {
      between(where, Long.parseLong(value), 1, most);
    } catch (NumberFormatException e) {
      throw new UsageException(where + "=" + value + " is not a number");
    }
  }

  static EngineSpec parse(String text) {
    try {
      return EngineSpec.parse(text);
    } catch (IllegalArgumentException e) {
      throw new UsageException(e.getMessage());
    }
  }

  /** The baseline named, or the engine of that name, or llama.cpp, or the first. */
  private static String baseline(String asked, Map<String, Study.Engine> engines) {
    if (asked == null) {
      return "";
    }
    if (!asked.isEmpty()) {
      if (!engines.containsKey(asked)) {
        throw new UsageException(
            "--baseline "
                + asked
                + " is none of the labels "
                + String.join(", ", engines.keySet()));
      }
      return asked;
    }
    return engines.containsKey("llamacpp") ? "llamacpp" : engines.keySet().iterator().next();
  }
}

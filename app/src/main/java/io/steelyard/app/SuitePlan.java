package io.steelyard.app;

import io.steelyard.lab.record.Json;
import io.steelyard.models.catalogue.ModelListing;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The steps of a suite, each a command line of its own, and how long they take.
 *
 * @param request what was asked for
 * @param steps in the order in which they run
 * @param lengths the matrix of the step {@value #LENGTHS}, as {@code sweep} reads it
 */
record SuitePlan(Request request, List<Step> steps, String lengths) {
  static final String STEELYARD = "steelyard";

  /** The comparison of the engines, which the gate is held to. */
  static final String ENGINES = "engines";

  static final String LENGTHS = "lengths";

  /** What the step {@value #REGRESS} measures first, as the history names it. */
  static final String STORED_METRIC = "pp512";

  static final String REGRESS = "regress";
  static final String CALIBRATE = "calibrate";
  static final String COMPARE = "compare";
  static final String SWEEP = "sweep";

  /** Benches of matrices print what they find; those of engines leave runs. */
  private static final String BENCH = "bench";

  /** So many stored runs are needed to hold a build against them. */
  private static final int FEWEST_STORED = 2;

  /** Larger models of the cache are left out. */
  private static final long LARGEST_QUICK = 200_000_000;

  private static final long LARGEST = 1_000_000_000;

  /** Room for the tokens that are generated after a prompt, as many as is usual. */
  private static final int GENERATED = 64;

  /** How much a suite measures. */
  enum Length {
    /** A few minutes: three blocks of everything. */
    QUICK("Quick suite"),
    /** As {@link #QUICK}, but what is judged is measured until it is settled. */
    CI("Suite for continuous integration"),
    /** Everything until it is settled. */
    FULL("Full suite");

    private final String title;

    Length(String title) {
      this.title = title;
    }

    String title() {
      return title;
    }
  }

  /**
   * What was asked for, kept with the results: a suite goes on as it began.
   *
   * @param length how much is measured
   * @param model what the engines run: a name or a file
   * @param gate the file of the gate
   */
  record Request(Length length, String model, Optional<String> gate) {}

  /**
   * One step.
   *
   * @param name names its files, too
   * @param arguments of the command line, without where its runs lie
   * @param seconds about how long it takes
   * @param obstacle why it can't run; empty where it can
   */
  record Step(String name, List<String> arguments, double seconds, String obstacle) {
    Step {
      arguments = List.copyOf(arguments);
    }

    static Step of(String name, double seconds, String... arguments) {
      return new Step(name, List.of(arguments), seconds, "");
    }

    static Step missing(String name, String obstacle) {
      return new Step(name, List.of(), 0, obstacle);
    }

    boolean runs() {
      return obstacle.isEmpty();
    }

    /** Whether it is a run that {@code resume} goes on with. */
    boolean isResumable() {
      return runs() && List.of(COMPARE, REGRESS).contains(arguments.getFirst());
    }

    /** The whole command line, with all that it leaves in a folder. */
    List<String> in(Path folder) {
      List<String> line = new ArrayList<>(arguments);
      switch (line.getFirst()) {
        case COMPARE -> line.addAll(List.of("--title", name, "--runs", folder.toString()));
        case BENCH -> {
          if (line.contains("--quick")) {
            line.addAll(List.of("--runs", folder.toString()));
          }
        }
        case CALIBRATE, REGRESS -> line.addAll(List.of("--runs", folder.toString()));
        case SWEEP ->
            line.addAll(
                List.of(
                    folder.resolve(name + ".yaml").toString(),
                    "--into",
                    folder.resolve(name).toString()));
        default -> {} // it prints what it finds
      }
      return line;
    }
  }

  SuitePlan {
    steps = List.copyOf(steps);
  }

  /** The steps for what was asked for, on a machine. */
  static SuitePlan of(Request request, SuiteMachine machine) {
    boolean full = request.length() == Length.FULL;
    List<Step> steps = new ArrayList<>();
    steps.addAll(limits(request));
    steps.addAll(parity(request, machine));
    steps.add(engines(request, machine));
    steps.add(stored(request, machine));
    for (String own : machine.ownEngines()) {
      steps.add(comparison("with-" + own, request, request.model(), List.of(STEELYARD, own)));
    }
    machine.problems().forEach(problem -> steps.add(Step.missing("engine", problem)));
    machine.models().stream()
        .filter(model -> !model.name().equals(machine.model()))
        .filter(model -> (model.exact() && model.bytes() > 0) || model.cached().isPresent())
        .map(model -> precision(request, machine, model))
        .forEach(steps::add);
    steps.addAll(studies(request));
    List<Integer> prompts = prompts(full, machine.context());
    steps.add(
        prompts.isEmpty()
            ? Step.missing(
                LENGTHS,
                "the model's context of %d tokens has no room for them"
                    .formatted(machine.context()))
            : Step.of(LENGTHS, prompts.size() * (full ? 200.0 : 40), SWEEP));
    return new SuitePlan(request, steps, sweep(request, machine, prompts));
  }

  private static List<Step> limits(Request request) {
    return request.length() == Length.FULL
        ? List.of(
            Step.of(CALIBRATE, 360, CALIBRATE, "--model", request.model()),
            Step.of("matmul", 180, BENCH, "matmul"))
        : List.of(
            Step.of("roofline", 4, CALIBRATE, "--roofline"),
            Step.of(
                "matmul",
                8,
                BENCH,
                "matmul",
                "--shape",
                "llama-135m",
                "--type",
                "Q8_0,Q4_0",
                "--tokens",
                "1,512"));
  }

  private static List<Step> parity(Request request, SuiteMachine machine) {
    Step tiers =
        Step.of(
            "parity-tiers",
            20,
            "parity",
            "steelyard:tier=reference",
            STEELYARD,
            "--model",
            request.model());
    Step llamaCpp =
        machine.llamaCpp().isEmpty()
            ? Step.of(
                "parity-llamacpp",
                10,
                "parity",
                STEELYARD,
                Engines.LLAMACPP,
                "--model",
                request.model())
            : Step.missing("parity-llamacpp", machine.llamaCpp());
    return List.of(tiers, llamaCpp);
  }

  /** The engine's memory and loads, and in a full suite what fusion and caches are worth. */
  private static List<Step> studies(Request request) {
    List<Step> studies = new ArrayList<>();
    studies.add(study("memory", request.model(), 25));
    studies.add(study("load", request.model(), 35));
    if (request.length() == Length.FULL) {
      studies.add(study("fusion", request.model(), 120));
      studies.add(study("diffuse", "synth:dream-s", 300));
    }
    return studies;
  }

  private static Step study(String what, String model, double seconds) {
    return Step.of(what, seconds, BENCH, what, "--model", model, "--quick");
  }

  /** The comparison of the installed engines, held to the gate where there is one. */
  private static Step engines(Request request, SuiteMachine machine) {
    if (!machine.llamaCpp().isEmpty()) {
      return Step.missing(ENGINES, machine.llamaCpp());
    }
    List<String> arguments =
        new ArrayList<>(
            List.of(COMPARE, "--model", request.model(), "-e", STEELYARD, "-e", Engines.LLAMACPP));
    if (request.length() == Length.QUICK) {
      arguments.add("--quick");
    }
    request.gate().ifPresent(gate -> arguments.addAll(List.of("--gate", gate)));
    return new Step(ENGINES, arguments, request.length() == Length.QUICK ? 90 : 240, "");
  }

  /** The present build against its earlier runs. */
  private static Step stored(Request request, SuiteMachine machine) {
    if (request.length() == Length.QUICK) {
      return Step.missing(REGRESS, "three blocks would settle nothing: it is in longer suites");
    }
    if (machine.storedRuns() < FEWEST_STORED) {
      return Step.missing(
          REGRESS,
          "at least %d earlier runs of this model on this hardware are needed, the history has %d"
              .formatted(FEWEST_STORED, machine.storedRuns()));
    }
    return Step.of(
        REGRESS,
        200,
        REGRESS,
        "--against",
        "stored",
        "--metrics",
        "prefill,decode",
        "--model",
        request.model());
  }

  private static Step precision(Request request, SuiteMachine machine, ModelListing model) {
    String name = "model-" + model.name().replaceAll("[^A-Za-z0-9._-]+", "-");
    if (model.cached().isEmpty()) {
      return Step.missing(
          name, "it isn't in the cache: ./steelyard model pull %s".formatted(model.name()));
    }
    long most = request.length() == Length.FULL ? LARGEST : LARGEST_QUICK;
    if (model.bytes() > most) {
      return Step.missing(
          name,
          "its %d MB are more than the %d of this suite: ./steelyard compare --model %s"
              .formatted(model.bytes() / 1_000_000, most / 1_000_000, model.name()));
    }
    return comparison(name, request, model.name(), machine.engines());
  }

  private static Step comparison(String name, Request request, String model, List<String> engines) {
    List<String> arguments = new ArrayList<>(List.of(COMPARE, "--model", model));
    engines.forEach(engine -> arguments.addAll(List.of("-e", engine)));
    arguments.addAll(List.of("--metrics", "prefill,decode"));
    boolean full = request.length() == Length.FULL;
    if (!full) {
      arguments.addAll(List.of("--quick", "--prompt", "128", "--gen", "32"));
    }
    return new Step(name, arguments, full ? 220 : 40, "");
  }

  private static List<Integer> prompts(boolean full, long context) {
    return (full ? IntStream.of(32, 128, 512, 2048) : IntStream.of(32, 256))
        .filter(prompt -> prompt + GENERATED <= context)
        .boxed()
        .toList();
  }

  /** JSON's texts and lists are YAML's, too. */
  private static String sweep(Request request, SuiteMachine machine, List<Integer> prompts) {
    boolean full = request.length() == Length.FULL;
    return """
    models: %s
    engines: %s
    metrics: %s
    prompt: %s
    quick: %s
    """
        .formatted(
            Json.line(List.of(request.model())),
            Json.line(machine.engines()),
            Json.line(full ? List.of("prefill", "decode") : List.of("prefill")),
            Json.line(prompts),
            !full);
  }
}

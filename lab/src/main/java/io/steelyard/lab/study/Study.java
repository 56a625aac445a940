package io.steelyard.lab.study;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * What is asked, as a person asks it; all defaults are filled in. {@link #builder} makes one,
 * {@link #toBuilder} one that is like another.
 *
 * @param command the command line that reproduces it
 * @param model the model
 * @param engines the engines by label, in the order given
 * @param baseline the label that the others are compared with; empty where nothing is compared
 * @param metrics names of what to measure: {@code prefill, decode, coldstart, load, memory,
 *     forward}, {@value #FORWARD}BxL, {@value #FROM_DISK}
 * @param shape lengths of prompts and generations
 * @param settings what every engine is told
 * @param design how much is measured
 * @param allowed lines of the fairness sheet that may differ
 * @param limits what the machine and the model allow at best, where it was measured before the run
 * @param precisions where labels run the model in other precisions, each from a file of its own
 * @param leftOut by {@link Cell#id}, why cells are not measured that would be
 * @param sharing whether labels of one engine share a process in each block, one after the other,
 *     instead of having a fresh one each
 * @param groups by {@link Cell#id}, which processes of a block wait for one another; those of
 *     different groups of a workload are measured one group after the other, since all of them
 *     together wouldn't fit into memory. Without it all wait for all
 */
public record Study(
    String command,
    Model model,
    Map<String, Engine> engines,
    String baseline,
    List<String> metrics,
    Shape shape,
    Settings settings,
    Design design,
    List<String> allowed,
    Optional<Limits> limits,
    Optional<Precisions> precisions,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<Map<String, String>> leftOut,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<Boolean> sharing,
    @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<Map<String, Integer>> groups) {

  /** Begins the metric of a benchmark's workload; its name follows. */
  public static final String OPERATION = "operation:";

  /** Begins the metric of a forward pass of its own size: {@code forward:4x128}. */
  public static final String FORWARD = "forward:";

  /** The metric of a load whose files aren't in the page cache. */
  public static final String FROM_DISK = "load-disk";

  /** What can be measured of an engine. */
  public static final List<String> METRICS =
      List.of("prefill", "decode", "coldstart", "load", "memory");

  /**
   * The model under test.
   *
   * @param name as asked for
   * @param file where it lies
   * @param sha256 checksum of the file
   * @param random whether its weights are random
   * @param bytes size of the file
   */
  public record Model(String name, String file, String sha256, boolean random, long bytes) {}

  /**
   * The same model in several precisions: what a label computes then differs from the source by
   * design, and is held to a bound instead of to equality.
   *
   * @param source the label that runs the model as it was given
   * @param files by label, the others' files
   * @param mostKl the largest mean KL(source ‖ label), in nats, with which a label is still
   *     measured
   * @param windows of the text that quality is told by
   * @param begin the token that the model expects before a text, if any
   */
  public record Precisions(
      String source,
      Map<String, Model> files,
      double mostKl,
      int windows,
      Optional<Integer> begin) {}

  /**
   * An engine with its options.
   *
   * @param spec as written on the command line
   * @param name the engine's name
   * @param options its options
   */
  public record Engine(String spec, String name, Map<String, String> options) {}

  /**
   * Lengths.
   *
   * @param prompt tokens of a timed prompt
   * @param generate tokens of a timed generation
   * @param depth tokens in the cache before either
   * @param batch sequences of a timed forward pass
   * @param text token ids of the one text that is the prompt of every call; empty where prompts are
   *     cut from Steelyard's own
   */
  public record Shape(
      int prompt, int generate, int depth, int batch, Optional<List<Integer>> text) {
    public Shape {
      text = text.map(List::copyOf);
    }

    /** Lengths of prompts that are cut from Steelyard's own texts. */
    public Shape(int prompt, int generate, int depth, int batch) {
      this(prompt, generate, depth, batch, Optional.empty());
    }

    /**
     * The workload of a metric.
     *
     * @throws IllegalArgumentException if there is no such metric
     */
    public Workload workload(String metric) {
      if (metric.startsWith(OPERATION)) {
        return Workload.operation(metric.substring(OPERATION.length()));
      }
      if (metric.startsWith(FORWARD)) {
        String[] sizes = metric.substring(FORWARD.length()).split("x", -1);
        return Workload.forward(Integer.parseInt(sizes[0]), Integer.parseInt(sizes[1]));
      }
      return switch (metric) {
        case "prefill" -> Workload.prefill(prompt, depth);
        case "decode" -> Workload.decode(generate, text.map(List::size).orElse(depth));
        case "forward" -> Workload.forward(batch, prompt);
        case "coldstart", "load", "memory" -> Workload.start(prompt, generate, depth);
        case FROM_DISK -> Workload.startFromDisk(prompt, generate, depth);
        case "time" -> Workload.command();
        default -> throw new IllegalArgumentException("unknown metric " + metric);
      };
    }
  }

  /**
   * What every engine is told, unless an option of its own says otherwise.
   *
   * @param threads compute threads
   * @param context tokens the KV cache holds
   * @param kv type of the KV cache: {@code f16} or {@code f32}
   * @param flashAttention whether engines that can use flash attention
   * @param affinity processors that the workers may run on, such as {@code 0-1}
   */
  public record Settings(
      int threads, int context, String kv, boolean flashAttention, String affinity) {}

  /**
   * How much is measured.
   *
   * @param forks the most blocks, each with one fresh process a cell
   * @param trials timed calls in a process
   * @param warmUpCap the most warm-up calls in a process
   * @param warmUpSeconds no further warm-up call starts after this time
   * @param budgetSeconds no further block starts after this time, once there are {@value
   *     #LEAST_FORKS}; {@link #NO_BUDGET} where nothing limits it
   * @param margin the change that matters, such as 0.02
   * @param seed of the order of cells and of every resampling
   * @param adaptive how it follows what was measured; empty where all of it is fixed beforehand
   * @param dropsOutliers whether trials that lie far out count for nothing; they are shown all the
   *     same
   * @param margins by the name of a metric, where another change matters
   */
  public record Design(
      int forks,
      int trials,
      int warmUpCap,
      double warmUpSeconds,
      double budgetSeconds,
      double margin,
      long seed,
      Optional<Adaptive> adaptive,
      boolean dropsOutliers,
      Map<String, Double> margins) {
    /** Fewer forks allow no interval worth printing. */
    public static final int LEAST_FORKS = 3;

    /** More seconds than any run takes. */
    public static final double NO_BUDGET = 1e9;

    /** The most forks where nobody says how many. */
    public static final int MOST_FORKS = 200;

    public Design {
      margins = Map.copyOf(margins);
    }

    /** A design that doesn't depend on what is measured, but for the budget. */
    public Design(
        int forks,
        int trials,
        int warmUpCap,
        double warmUpSeconds,
        double budgetSeconds,
        double margin,
        long seed) {
      this(
          forks,
          trials,
          warmUpCap,
          warmUpSeconds,
          budgetSeconds,
          margin,
          seed,
          Optional.empty(),
          false,
          Map.of());
    }

    /** The change that matters in a metric. */
    public double margin(String metric) {
      return margins.getOrDefault(metric, margin);
    }

    /** Whether a process gets as many trials as pay; elsewhere the number of them is given. */
    public boolean freeTrials() {
      return adaptive.isPresent() && adaptive.get().mostTrials() > trials;
    }

    /** The same design that follows what is measured. */
    public Design adapting(Adaptive how) {
      return with(warmUpCap, warmUpSeconds, Optional.of(how), dropsOutliers, margins);
    }

    /** The same design that counts trials far out, or doesn't. */
    public Design droppingOutliers(boolean drops) {
      return with(warmUpCap, warmUpSeconds, adaptive, drops, margins);
    }

    /** The same design with another warm-up. */
    public Design warmedUp(int cap, double seconds) {
      return with(cap, seconds, adaptive, dropsOutliers, margins);
    }

    /** The same design with margins of some metrics' own. */
    public Design margins(Map<String, Double> own) {
      return with(warmUpCap, warmUpSeconds, adaptive, dropsOutliers, own);
    }

    private Design with(
        int cap,
        double seconds,
        Optional<Adaptive> looking,
        boolean drops,
        Map<String, Double> own) {
      return new Design(
          forks, trials, cap, seconds, budgetSeconds, margin, seed, looking, drops, own);
    }
  }

  /**
   * How a design follows what was measured: it ends once everything is settled, leaves out what is,
   * and gives a process as many trials as pay.
   *
   * @param precision a ratio is settled, too, once the half-width of its interval is no larger than
   *     this; such as 0.01
   * @param mostTrials the most timed calls in a process
   */
  public record Adaptive(double precision, int mostTrials) {}

  /** Begins a study, by the command line that reproduces it. */
  public static StudyBuilder builder(String command) {
    return new StudyBuilder(command);
  }

  /** Begins another study that differs from this one in what is given anew. */
  public StudyBuilder toBuilder() {
    return builder(command)
        .model(model)
        .engines(engines)
        .baseline(baseline)
        .metrics(metrics)
        .shape(shape)
        .settings(settings)
        .design(design)
        .allowed(allowed)
        .limits(limits)
        .precisions(precisions)
        .leftOut(leftOut.orElse(Map.of()))
        .sharing(sharesProcesses())
        .groups(groups.orElse(Map.of()));
  }

  /**
   * The same study whose engines have further options.
   *
   * @param further of a label; they replace those of the same names
   */
  public Study withOptions(Function<String, Map<String, String>> further) {
    Map<String, Engine> changed = new LinkedHashMap<>();
    engines.forEach(
        (label, engine) -> {
          Map<String, String> options = new LinkedHashMap<>(engine.options());
          options.putAll(further.apply(label));
          changed.put(label, new Engine(engine.spec(), engine.name(), options));
        });
    return toBuilder().engines(changed).build();
  }

  /** The file that a label runs. */
  public Model modelOf(String label) {
    return precisions.map(p -> p.files().getOrDefault(label, model)).orElse(model);
  }

  /** Whether a label runs the model in another precision than it was given in. */
  public boolean isRecoded(String label) {
    return precisions.filter(p -> p.files().containsKey(label)).isPresent();
  }

  /** Whether engines run a model; commands and benchmarks have none. */
  public boolean hasModel() {
    return !model.file().isEmpty();
  }

  /** The workloads that the metrics need, in the order in which they are reported. */
  public List<Workload> workloads() {
    return metrics.stream().map(shape::workload).distinct().toList();
  }

  /** Whether labels of one engine share a process in each block. */
  public boolean sharesProcesses() {
    return sharing.orElse(false);
  }

  /** The group of a cell's processes; see {@link #groups}. */
  public int groupOf(Cell cell) {
    return groups.map(numbers -> numbers.getOrDefault(cell.id(), 0)).orElse(0);
  }

  /** Whether a cell is not measured. */
  public boolean leavesOut(Cell cell) {
    return leftOut.filter(cells -> cells.containsKey(cell.id())).isPresent();
  }

  /** Every label doing every workload, but for what is left out. */
  public List<Cell> cells() {
    List<Cell> cells = new ArrayList<>();
    for (Workload workload : workloads()) {
      for (String label : engines.keySet()) {
        cells.add(new Cell(label, workload));
      }
    }
    cells.removeIf(this::leavesOut);
    return cells;
  }
}

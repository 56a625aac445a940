package io.steelyard.app;

import io.steelyard.kernels.DataType;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.models.ModelFile;
import io.steelyard.models.UnknownNameException;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.models.gguf.WeightPrecision;
import io.steelyard.models.quantize.Scheme;
import io.steelyard.models.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import picocli.CommandLine.Option;

/** What `compare` is told of precisions of one model. */
final class PrecisionOptions {
  /** What precisions differ in. */
  static final List<String> METRICS = List.of("prefill", "decode", "memory");

  /** Types that lose next to nothing of what was trained. */
  private static final Set<DataType> WHOLE = Set.of(DataType.F32, DataType.F16, DataType.BF16);

  private static final int MOST_WINDOWS = 1000;

  @Option(
      names = "--precisions",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      split = ",",
      paramLabel = "NAME",
      description =
          "compare these precisions of the model instead of engines: f16, q8_0, q4_k_m, nf4 and all"
              + " that 'model quantize' writes; the files are kept in the cache")
  List<String> precisions = new ArrayList<>();

  @Option(
      names = "--kl-bound",
      paramLabel = "NATS",
      defaultValue = "1",
      description =
          "a precision whose mean KL to the source is over this isn't measured: it is another model")
  double klBound;

  @Option(
      names = "--quality-windows",
      paramLabel = "N",
      defaultValue = "4",
      description = "windows of 512 tokens of Steelyard's text that perplexity and KL are told by")
  int windows;

  private ResolvedModel source;
  private String sourceLabel;
  private final Map<String, ResolvedModel> files = new LinkedHashMap<>();

  boolean isEmpty() {
    return precisions.isEmpty();
  }

  /**
   * Makes the files.
   *
   * @param engine that runs them all
   * @return the engine as often as there are labels, the source first
   */
  List<String> encode(String engine, ResolvedModel model, Console console) {
    List<Scheme> wanted = check();
    source = model;
    try (ModelFile file = ModelFile.open(model.file())) {
      String stored = WeightPrecision.describe(file.tensors());
      boolean mixed = stored.contains(" ");
      sourceLabel = mixed ? "source" : stored.toLowerCase(Locale.ROOT);
      if (!WHOLE.containsAll(WeightPrecision.parameters(file.tensors()).keySet())) {
        console.note(
            "The source is quantised itself (%s): what it lost before counts as right. Give a model in f16, bf16 or f32 to know the whole loss."
                .formatted(stored));
      }
    }
    List<String> specs = new ArrayList<>(List.of(labelled(engine, sourceLabel)));
    for (Scheme precision : wanted) {
      ResolvedModel file = Models.inPrecision(model, precision, console);
      if (!file.file().equals(model.file())) {
        files.put(precision.name(), file);
        specs.add(labelled(engine, precision.name()));
      }
    }
    if (files.isEmpty()) {
      throw new UsageException(
          "--precisions %s: that is what %s is stored in, and nothing else to compare it with"
              .formatted(String.join(",", precisions), model.name()));
    }
    return specs;
  }

  /** The engine under another label than its own. */
  static String labelled(String engine, String label) {
    EngineSpec spec = StudyOptions.parse(engine);
    StringBuilder text = new StringBuilder(spec.name() + ":label=" + label);
    spec.options().forEach((key, value) -> text.append(',').append(key).append('=').append(value));
    return text.toString();
  }

  private List<Scheme> check() {
    if (!(klBound > 0) || Double.isInfinite(klBound)) {
      throw new UsageException("--kl-bound %s must be above 0".formatted(klBound));
    }
    StudyOptions.between("--quality-windows", windows, 1, MOST_WINDOWS);
    List<Scheme> wanted = new ArrayList<>();
    for (String name : precisions) {
      try {
        Scheme precision = Scheme.of(name);
        if (wanted.contains(precision)) {
          throw new UsageException("--precisions names %s twice".formatted(name));
        }
        wanted.add(precision);
      } catch (UnknownNameException e) {
        throw new UsageException("--precisions: " + e.getMessage());
      }
    }
    return wanted;
  }

  /** The label that a precision is held against unless another is named. */
  String source() {
    return sourceLabel;
  }

  /** A study of the source, as one of its precisions. */
  Study of(Study study) {
    Map<String, Study.Model> models = new LinkedHashMap<>();
    files.forEach((label, file) -> models.put(label, StudyOptions.model(file)));
    // The limits known are those of the source's bytes.
    return study.toBuilder()
        .limits(Optional.empty())
        .precisions(
            Optional.of(new Study.Precisions(sourceLabel, models, klBound, windows, begin())))
        .build();
  }

  private Optional<Integer> begin() {
    try (ModelFile file = ModelFile.open(source.file())) {
      Tokenizer tokenizer = Tokenizer.of(file.metadata());
      OptionalInt begin = tokenizer.addBos() ? tokenizer.bos() : OptionalInt.empty();
      return begin.isPresent() ? Optional.of(begin.getAsInt()) : Optional.empty();
    }
  }
}

package io.steelyard.app;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.lab.RunException;
import io.steelyard.lab.record.Json;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.gguf.GgufFile;
import io.steelyard.models.quantize.Importance;
import io.steelyard.models.quantize.ImportanceCollector;
import io.steelyard.models.quantize.Quantizer;
import io.steelyard.models.quantize.Readback;
import io.steelyard.models.quantize.Scheme;
import io.steelyard.models.quantize.Sparsity;
import io.steelyard.models.safetensors.SafetensorsModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "quantize",
    mixinStandardHelpOptions = true,
    description = {
      "Writes a model with its matrices in another type, as a GGUF file, and tells the error.",
      "",
      "TYPE is one of llama.cpp's mixes, in which matrices that matter more have more bits: q2_k,"
          + " q2_k_s, q3_k_s, q3_k_m, q3_k_l, q4_k_s, q4_k_m, q5_k_s, q5_k_m, q6_k, q4_0, q4_1,"
          + " q5_0, q5_1, q8_0, iq4_nl, iq4_xs, f32, f16, bf16; or mxfp4, nvfp4 (embeddings and"
          + " output q8_0); or a scheme that only Steelyard reads: int8_tensor, int8_row, int8_g32,"
          + " int8_g64, int8_g128, nf4, nf4_dq (double quantisation), fp8_e4m3, fp8_e5m2, fp4,"
          + " f16_2of4 (2:4 sparse).",
      "",
      "Vectors, norms, biases, positions and routers stay as they are. Rows that are no multiple of"
          + " a type's block get another type, as llama.cpp's quantiser does it. The errors are"
          + " those of the file, read back: root mean square, as a share of the weights' own."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard model quantize my-model/ q4_k_m",
      "  ./steelyard model quantize model-f16.gguf nf4 -o model-nf4.gguf --output q8_0",
      "  ./steelyard model quantize model-f16.gguf q8_0 --sparsity block:0.25 --tensors"
    })
final class ModelQuantizeCommand implements Callable<Integer> {
  @Parameters(
      index = "0",
      paramLabel = "SOURCE",
      description = "a name of 'model list', a GGUF file, or a folder with safetensors")
  String source;

  @Parameters(index = "1", paramLabel = "TYPE", description = "of the matrices")
  String type;

  @Option(
      names = {"-o", "--out"},
      paramLabel = "FILE",
      description = "the GGUF file to write; SOURCE's name with TYPE, in this folder")
  Path out;

  @Option(names = "--force", description = "replace FILE if it is there")
  boolean force;

  @Option(names = "--pure", description = "give all matrices TYPE, none more bits than others")
  boolean pure;

  @Option(names = "--embedding", paramLabel = "TYPE", description = "of the embeddings")
  String embedding;

  @Option(
      names = "--output",
      paramLabel = "TYPE",
      description = "of the matrix that gives logits, which may be the embeddings")
  String output;

  @Option(
      names = "--sparsity",
      paramLabel = "PATTERN",
      description =
          "make weights zero first: 2:4, or block (of 4 × 4), channel or random with the share that"
              + " becomes zero, such as block:0.5")
  String sparsity;

  @Option(
      names = "--imatrix",
      paramLabel = "FILE",
      description =
          "what matters more: a text, on which SOURCE is run, or a file of llama-imatrix;"
              + " for the scales of q2_k to q6_k, iq4_nl and iq4_xs")
  Path imatrix;

  @Spec CommandSpec spec;
  @Mixin ThreadsOption threads;

  @Option(names = "--tensors", description = "list every tensor, not every kind of tensor")
  boolean tensors;

  @Option(names = "--json", description = "print one JSON document on stdout instead of the tables")
  boolean json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (imatrix != null && SteelyardProcess.lacksVectors(Map.of())) {
      return SteelyardProcess.withVectors(spec);
    }
    Console console = new Console();
    Scheme scheme = pure ? Scheme.of(type).pure() : Scheme.of(type);
    Quantizer.Choice choice =
        new Quantizer.Choice(
            scheme,
            Optional.ofNullable(embedding).map(name -> Scheme.of(name).usual()),
            Optional.ofNullable(output).map(name -> Scheme.of(name).usual()),
            Optional.ofNullable(sparsity).map(Sparsity::of),
            Optional.empty());
    Path from =
        Files.exists(Path.of(source)) ? Path.of(source) : Models.resolve(source, console).file();
    Path to = out == null ? named(from, scheme) : out;
    requireFree(from, to);
    if (imatrix != null) {
      choice = choice.with(importance(from, console));
    }
    List<Readback.Result> results;
    try (ModelFile model = ModelFile.open(from)) {
      warnOfQuantised(model, console);
      List<Quantizer.Plan> plans = write(model, choice, to, console);
      try (ModelFile written = GgufFile.open(to);
          BytesBar bar = new BytesBar(console, "comparing with " + from.getFileName())) {
        results = Readback.of(written, plans, bar);
      }
    }
    if (json) {
      console.result(Json.pretty(asJson(to, scheme, results)));
    } else {
      QuantizationTable.print(console, results, tensors);
      console.result(to.toString());
    }
    return ExitCode.FINE;
  }

  private Importance importance(Path model, Console console) {
    if (!Files.isRegularFile(imatrix)) {
      throw new UsageException(
          "--imatrix %s: %s"
              .formatted(
                  imatrix,
                  Files.isDirectory(imatrix) ? "it is a folder" : "there is no such file"));
    }
    try {
      if (Importance.isStored(imatrix)) {
        return Importance.read(imatrix);
      }
    } catch (UncheckedIOException e) {
      throw new UsageException("--imatrix " + imatrix + ": " + RunException.reason(e.getCause()));
    }
    String text = Models.text("--imatrix", imatrix);
    try (Kernels kernels = Kernels.of(OwnModel.usualTier(), threads.count());
        BytesBar bar = new BytesBar(console, "running on " + imatrix.getFileName())) {
      return ImportanceCollector.collect(model, kernels, imatrix.toString(), text, bar);
    }
  }

  /** Writes a model in the types that were chosen, showing how far that is. */
  static List<Quantizer.Plan> write(
      ModelFile model, Quantizer.Choice choice, Path to, Console console) {
    try (BytesBar looking = new BytesBar(console, "looking for scales");
        BytesBar writing = new BytesBar(console, "writing " + to.getFileName())) {
      return Quantizer.write(model, choice, to, looking, writing);
    }
  }

  private static Path named(Path source, Scheme scheme) {
    String name = String.valueOf(source.toAbsolutePath().normalize().getFileName());
    String stem = name.replaceFirst("\\.(gguf|safetensors)$", "");
    return Path.of(stem + "-" + scheme.name() + ".gguf");
  }

  private void requireFree(Path from, Path to) {
    Models.requireFileToWrite("--out", to);
    if (SafetensorsModel.isSafetensors(to)) {
      throw new UsageException("--out " + to + ": name a .gguf file, not one with safetensors");
    }
    try {
      for (Path file : Files.exists(to) ? ModelFile.files(from) : List.<Path>of()) {
        if (Files.isSameFile(file, to)) {
          throw new UsageException("--out " + to + " is SOURCE itself: name another file");
        }
      }
    } catch (IOException e) {
      throw new ModelException(to + " can't be looked at: " + e.getMessage(), e);
    }
    if (Files.exists(to) && !force) {
      throw new UsageException(
          "--out " + to + " is there already: name another file, or replace it with --force");
    }
  }

  private static void warnOfQuantised(ModelFile model, Console console) {
    String types =
        model.bytesByType().keySet().stream()
            .filter(each -> each.blockSize() > 1 || !each.isGgml())
            .map(DataType::name)
            .collect(Collectors.joining(", "));
    if (!types.isEmpty()) {
      console.note(
          "note: "
              + model.path()
              + " is quantised already ("
              + types
              + "): its errors stay and others are added; the errors shown are the added ones."
              + " Take the original where you have it");
    }
  }

  private static Map<String, Object> asJson(
      Path out, Scheme scheme, List<Readback.Result> results) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("file", out.toString());
    document.put("scheme", scheme.name());
    document.put("tensors", results);
    return document;
  }
}

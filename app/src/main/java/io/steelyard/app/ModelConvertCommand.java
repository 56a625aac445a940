package io.steelyard.app;

import io.steelyard.kernels.DataType;
import io.steelyard.models.quantize.Quantizer;
import io.steelyard.models.quantize.Scheme;
import io.steelyard.models.safetensors.SafetensorsModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "convert",
    mixinStandardHelpOptions = true,
    description = {
      "Writes a folder with safetensors, or with PyTorch's files, as a GGUF file.",
      "",
      "Names, layouts and metadata are those that llama.cpp's converter writes. Vectors and norms"
          + " are float32 whatever the type; rows that are no multiple of a type's block get another one:"
          + " F16, or what 'model quantize' takes."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard model convert my-model/ my-model.gguf",
      "  ./steelyard model convert my-model/ my-model.gguf --type q8_0"
    })
final class ModelConvertCommand implements Callable<Integer> {
  /** What llama.cpp's converter writes, byte for byte. */
  private static final Set<DataType> CONVERTERS =
      Set.of(DataType.F32, DataType.F16, DataType.BF16, DataType.Q8_0, DataType.Q4_0);

  @Parameters(
      paramLabel = "SOURCE",
      description =
          "a folder with config.json and safetensors or pytorch_model.bin, or one such file in it")
  Path source;

  @Parameters(paramLabel = "OUT", description = "the GGUF file to write")
  Path out;

  @Option(
      names = "--type",
      paramLabel = "TYPE",
      description =
          "of the matrices, all of which get it: f32, f16, bf16, q8_0, q4_0, or another that 'model"
              + " quantize' writes; the one they are stored in")
  String type;

  @Override
  public Integer call() {
    Console console = new Console();
    Models.requireFileToWrite("OUT", out);
    if (SafetensorsModel.isSafetensors(out)) {
      throw new UsageException("OUT " + out + ": name a .gguf file, not one with safetensors");
    }
    if (Files.notExists(source)) {
      throw new UsageException("SOURCE " + source + ": there is no such folder or file");
    }
    if (!SafetensorsModel.isSafetensors(source)) {
      throw new UsageException(
          "SOURCE %s: give a folder with safetensors, or a .safetensors file in it"
              .formatted(source));
    }
    if (type == null) {
      write(SafetensorsModel.open(source), console);
    } else {
      Scheme scheme = Scheme.of(type).pure();
      if (CONVERTERS.contains(scheme.usual())) {
        write(SafetensorsModel.open(source, scheme.usual()), console);
      } else {
        try (SafetensorsModel model = SafetensorsModel.open(source)) {
          ModelQuantizeCommand.write(model, Quantizer.Choice.of(scheme), out, console);
        }
      }
    }
    console.result(out.toString());
    return ExitCode.FINE;
  }

  private void write(SafetensorsModel converted, Console console) {
    try (SafetensorsModel model = converted;
        BytesBar bar = new BytesBar(console, "writing " + out.getFileName())) {
      model.writeGguf(out, bar);
    }
  }
}

package io.steelyard.app;

import io.steelyard.kernels.DataType;
import io.steelyard.models.safetensors.SafetensorsModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
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
          + " are float32 whatever the type; rows that are no multiple of a type's block stay F16."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard model convert my-model/ my-model.gguf",
      "  ./steelyard model convert my-model/ my-model.gguf --type q8_0"
    })
final class ModelConvertCommand implements Callable<Integer> {
  private static final List<DataType> TYPES =
      List.of(DataType.F32, DataType.F16, DataType.BF16, DataType.Q8_0, DataType.Q4_0);

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
      description = "of the matrices: f32, f16, bf16, q8_0 or q4_0; the one they are stored in")
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
    try (SafetensorsModel model =
            type == null
                ? SafetensorsModel.open(source)
                : SafetensorsModel.open(source, type(type));
        BytesBar bar = new BytesBar(console, "writing " + out.getFileName())) {
      model.writeGguf(out, bar);
    }
    console.result(out.toString());
    return ExitCode.FINE;
  }

  private static DataType type(String name) {
    return TYPES.stream()
        .filter(type -> type.name().equalsIgnoreCase(name))
        .findFirst()
        .orElseThrow(
            () ->
                new UsageException(
                    "--type %s: types are %s"
                        .formatted(
                            name,
                            TYPES.stream()
                                .map(type -> type.name().toLowerCase(Locale.ROOT))
                                .collect(Collectors.joining(", ")))));
  }
}

package io.steelyard.app;

import picocli.CommandLine.Command;

@Command(
    name = "model",
    mixinStandardHelpOptions = true,
    description =
        "Models: get, list, look into, make, convert, quantize, tokenize with, compute logits of, score.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Examples:",
      "  ./steelyard model pull default",
      "  ./steelyard model inspect default",
      "  ./steelyard model synth --shape llama-1b --type Q8_0 --out llama-1b.gguf",
      "  ./steelyard model convert my-model/ my-model.gguf --type q8_0",
      "  ./steelyard model quantize my-model.gguf q4_k_m",
      "  echo '\"Hello world\"' | ./steelyard model tokenize default"
    },
    subcommands = {
      ModelPullCommand.class,
      ModelListCommand.class,
      ModelInspectCommand.class,
      ModelSynthCommand.class,
      ModelConvertCommand.class,
      ModelQuantizeCommand.class,
      ModelTokenizeCommand.class,
      ModelLogitsCommand.class,
      ModelPerplexityCommand.class
    })
final class ModelCommand {
  private ModelCommand() {}
}

package io.steelyard.app;

import picocli.CommandLine.Command;

@Command(
    name = "model",
    mixinStandardHelpOptions = true,
    description =
        "Models: get, list, look into, make, convert, tokenize with, compute logits of, score.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Examples:",
      "  ./steelyard model pull default",
      "  ./steelyard model inspect default",
      "  ./steelyard model synth --shape llama-1b --type Q8_0 --out llama-1b.gguf",
      "  ./steelyard model convert my-model/ my-model.gguf --type q8_0",
      "  echo '\"Hello world\"' | ./steelyard model tokenize default"
    },
    subcommands = {
      ModelPullCommand.class,
      ModelListCommand.class,
      ModelInspectCommand.class,
      ModelSynthCommand.class,
      ModelConvertCommand.class,
      ModelTokenizeCommand.class,
      ModelLogitsCommand.class,
      ModelPerplexityCommand.class
    })
final class ModelCommand {
  private ModelCommand() {}
}

package io.steelyard.app;

import picocli.CommandLine.Command;

@Command(
    name = "attention",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      AttentionListCommand.class,
      AttentionRangeCommand.class,
      AttentionImpactCommand.class
    },
    description = {
      "Weighs variants of attention against one another, each proved to be what its name says."
    })
final class AttentionCommand {}

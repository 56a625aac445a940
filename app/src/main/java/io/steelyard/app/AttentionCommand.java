package io.steelyard.app;

import picocli.CommandLine.Command;

@Command(
    name = "attention",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      AttentionListCommand.class,
      AttentionQuickCommand.class,
      AttentionRangeCommand.class,
      AttentionImpactCommand.class,
      AttentionRingCommand.class,
      AttentionPlotCommand.class,
      AttentionExtremeCommand.class,
      AttentionAccuracyCommand.class,
      AttentionTrainCommand.class
    },
    description = {
      "Weighs variants of attention against one another, each proved to be what its name says."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard attention list",
      "  ./steelyard attention quick",
      "  ./steelyard attention range document --variants flash,block-sparse --quick",
      "  ./steelyard attention impact --variants dilated",
      "  ./steelyard attention ring --processes 2,4",
      "  ./steelyard attention extreme --memory 4G --time 10s",
      "  ./steelyard attention accuracy --density 0.1"
    })
final class AttentionCommand {}

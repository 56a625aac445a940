package io.steelyard.app;

import picocli.CommandLine.Command;

@Command(
    name = "history",
    mixinStandardHelpOptions = true,
    description = "The runs that were kept: list, look into, follow, compare, bring in, take out.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Examples:",
      "  ./steelyard history import runs/2026-01-31_120000-compare",
      "  ./steelyard history import --here llama-bench.json",
      "  ./steelyard history list",
      "  ./steelyard history trend tg64 --label steelyard",
      "  ./steelyard history compare 12 11"
    },
    subcommands = {
      HistoryListCommand.class,
      HistoryShowCommand.class,
      HistoryTrendCommand.class,
      HistoryCompareCommand.class,
      HistoryImportCommand.class,
      HistoryExportCommand.class,
      HistoryPruneCommand.class
    })
final class HistoryCommand {
  private HistoryCommand() {}
}

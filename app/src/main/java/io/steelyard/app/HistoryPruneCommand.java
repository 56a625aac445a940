package io.steelyard.app;

import io.steelyard.history.HistoryStore;
import io.steelyard.history.PruneRule;
import io.steelyard.history.StoredRun;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "prune",
    mixinStandardHelpOptions = true,
    description = {
      "Removes old runs from the history; their directories stay.",
      "Without --yes it only says which."
    },
    footer = {"", "Example:", "  ./steelyard history prune --keep 100 --yes"})
final class HistoryPruneCommand implements Callable<Integer> {
  @Mixin HistoryPlace history;

  @ArgGroup(multiplicity = "1")
  Rule rule;

  @Option(names = "--yes", description = "remove them")
  boolean yes;

  /** Which are to go. */
  static final class Rule {
    @Option(names = "--keep", paramLabel = "N", description = "all but the newest N")
    Integer keep;

    @Option(names = "--older-than", paramLabel = "DAYS", description = "those of before then")
    Integer days;
  }

  @Override
  public Integer call() {
    Console console = new Console();
    try (HistoryStore store = history.open()) {
      List<StoredRun> old = store.prunable(rule());
      if (old.isEmpty()) {
        console.result("Nothing to remove.");
      } else if (yes) {
        console.result("%d runs removed.".formatted(store.remove(old)));
      } else {
        console.table(HistoryTables.runs(old, console.style()));
        console.result("These %d runs would be removed: say so with --yes.".formatted(old.size()));
      }
    }
    return ExitCode.FINE;
  }

  private PruneRule rule() {
    int value = rule.keep == null ? rule.days : rule.keep;
    if (value < 0) {
      throw new UsageException("%d is out of range: it is at least 0".formatted(value));
    }
    return rule.keep == null
        ? new PruneRule.Before(Instant.now().minus(Duration.ofDays(rule.days)))
        : new PruneRule.KeepNewest(rule.keep);
  }
}

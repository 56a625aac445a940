package io.steelyard.lab.run;

import io.steelyard.lab.RunException;
import io.steelyard.lab.RunListener;
import io.steelyard.lab.TemporaryFolder;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.Workers;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * A study of whole commands, whatever they do: the blocks, statistics and verdicts of engines, and
 * no parity, since nobody knows what a command should say. Goes on with one that was interrupted,
 * too.
 */
public final class CommandRun {
  private CommandRun() {}

  /**
   * A command as a study keeps it.
   *
   * @param command for the shell
   * @param prepare run before each run of the command, untimed; may be empty
   * @param cleanup run after each run, untimed; may be empty
   * @param ignoreFailure whether an exit code other than 0 is no failure
   */
  public static Study.Engine engine(
      String command, String prepare, String cleanup, boolean ignoreFailure) {
    Map<String, String> options = new LinkedHashMap<>();
    if (!prepare.isEmpty()) {
      options.put(CommandForks.PREPARE, prepare);
    }
    if (!cleanup.isEmpty()) {
      options.put(CommandForks.CLEANUP, cleanup);
    }
    if (ignoreFailure) {
      options.put(CommandForks.IGNORE_FAILURE, "yes");
    }
    return new Study.Engine(command, "command", options);
  }

  /** The same command, prepared and cleaned up after in a folder. */
  public static Study.Engine inFolder(Study.Engine command, Path folder) {
    String change =
        "cd '%s' && ".formatted(folder.toAbsolutePath().toString().replace("'", "'\\''"));
    Map<String, String> options = new LinkedHashMap<>(command.options());
    for (String around : List.of(CommandForks.PREPARE, CommandForks.CLEANUP)) {
      options.computeIfPresent(around, (_, text) -> change + text);
    }
    return new Study.Engine(change + command.spec(), command.name(), options);
  }

  /** Whether a study is one of commands. */
  public static boolean is(Study study) {
    return study.metrics().equals(List.of("time"));
  }

  /**
   * Measures.
   *
   * @throws RunException if a command fails before anything is measured
   */
  public static StudyRun.Outcome run(
      RunDirectory directory, EngineRegistry registry, RunListener listener)
      throws WorkerException {
    Study study = directory.plan();
    try (TemporaryFolder scratch = TemporaryFolder.make();
        Journal journal = Journal.open(directory.journalFile())) {
      if (journal.entries().isEmpty()) {
        double seconds = forkSeconds(study, directory, listener);
        listener.note(new BlockPlan(seconds).expectation(study));
      }
      Function<List<Entry>, Summariser> summariser =
          entries -> new Summariser(study, Map.of(), List.of(), List.of(), entries);
      directory.write("engines.json", "{}");
      Workers workers =
          new Workers(study.model(), study.settings(), registry, directory::stderr, scratch.path());
      new BlockLoop(
              study,
              workers,
              journal,
              study.engines().keySet(),
              new CommandForks(study, directory::stderr, journal),
              Look.NOTHING,
              entries -> Look.at(study, summariser.apply(entries).summarise(""), entries),
              listener)
          .run();
      List<Entry> measured = journal.entries();
      return StudyRun.Outcome.of(
          directory, study, summariser.apply(measured), measured, List.of(), List.of());
    }
  }

  /**
   * What a block's runs will take, from one run of each command, which also shows that it works.
   */
  private static double forkSeconds(Study study, RunDirectory directory, RunListener listener)
      throws WorkerException {
    double seconds = 0;
    int tried = 0;
    for (Cell cell : study.cells()) {
      listener.progress("trying", (double) tried++ / study.engines().size(), cell.label());
      CommandForks.Run run =
          CommandForks.once(study.engines().get(cell.label()), directory.stderr(cell.id()));
      if (!run.failure().isEmpty()) {
        throw new RunException(
            "'%s' can't be measured: %s; --ignore-failure measures it all the same"
                .formatted(cell.label(), run.failure()));
      }
      seconds += (study.design().warmUpCap() + study.design().trials()) * run.nanos() / 1e9;
    }
    listener.progress("trying", 1, "done");
    return seconds;
  }
}

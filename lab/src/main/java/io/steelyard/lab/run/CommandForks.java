package io.steelyard.lab.run;

import io.steelyard.lab.RunException;
import io.steelyard.lab.environment.Frequency;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.run.BlockLoop.Place;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.CommandProcess;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.MachineCounters;
import io.steelyard.lab.worker.WorkerException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Whole commands: what is a process of an engine elsewhere is here a few runs of a command in a
 * row, each a process of its own.
 */
final class CommandForks implements BlockLoop.Forks {
  /** Options of a command, as a study keeps them. */
  static final String PREPARE = "prepare";

  static final String CLEANUP = "cleanup";
  static final String IGNORE_FAILURE = "ignore-failure";

  private static final LoadReport.Settings NO_SETTINGS =
      new LoadReport.Settings("", "", "", 0, "", 0, 0, false, 0, 0, 0);

  private final Study study;
  private final Function<String, Path> stderr;
  private final Journal journal;

  /**
   * @param stderr where the runs of a cell write what they have to say
   */
  CommandForks(Study study, Function<String, Path> stderr, Journal journal) {
    this.study = study;
    this.stderr = stderr;
    this.journal = journal;
  }

  @Override
  public void run(List<Place> places) {
    places.forEach(this::run);
  }

  private void run(Place place) {
    journal.add(
        new Entry.ForkStart(
            place.block(),
            place.attempt(),
            place.cell().id(),
            place.fork(),
            0,
            false,
            "",
            0,
            0,
            0,
            Map.of(),
            0,
            NO_SETTINGS));
    String failure = "";
    try {
      for (int i = 0; i < study.design().warmUpCap() && failure.isEmpty(); i++) {
        failure = once(place, Role.WARM_UP, i);
      }
      for (int i = 0; i < place.trials() && failure.isEmpty(); i++) {
        failure = once(place, Role.TRIAL, i);
      }
    } catch (WorkerException | IOException e) {
      failure = e.getMessage();
    }
    if (ForkRunner.shuttingDown()) {
      throw new RunException("stopped: './steelyard resume' goes on from here");
    }
    journal.add(
        new Entry.ForkEnd(
            place.block(),
            place.attempt(),
            place.cell().id(),
            place.fork(),
            true,
            0,
            0,
            0,
            0,
            Map.of(),
            failure));
  }

  /** Runs the command once more; says what failed. */
  private String once(Place place, Role role, int index) throws WorkerException, IOException {
    long self = ProcessHandle.current().pid();
    MachineCounters before = MachineCounters.read(self);
    Run run = once(study.engines().get(place.cell().label()), stderr.apply(place.cell().id()));
    MachineCounters spent = MachineCounters.read(self).since(before);
    if (run.failure().isEmpty()) {
      journal.add(
          new Entry.Call(
              place.block(),
              place.attempt(),
              place.cell().id(),
              place.fork(),
              "command",
              role,
              index,
              0,
              0,
              run.nanos(),
              run.nanos(),
              run.nanos(),
              true,
              0,
              spent.stealShare(),
              0,
              0,
              Frequency.megahertz(),
              Optional.empty()));
    }
    return run.failure();
  }

  /**
   * One run of a command.
   *
   * @param failure what failed; empty where nothing did
   */
  record Run(long nanos, String failure) {}

  /** Runs a command, prepared before and cleaned up after. */
  static Run once(Study.Engine command, Path log) throws WorkerException {
    String unprepared = around(command, PREPARE, log);
    if (!unprepared.isEmpty()) {
      return new Run(0, unprepared);
    }
    CommandProcess.Ended ended = CommandProcess.run(command.spec(), log);
    boolean failed = ended.exitCode() != 0 && !command.options().containsKey(IGNORE_FAILURE);
    return new Run(
        ended.nanos(), failed ? "the command " + ended.ending() : around(command, CLEANUP, log));
  }

  private static String around(Study.Engine command, String option, Path log)
      throws WorkerException {
    String text = command.options().getOrDefault(option, "");
    if (text.isEmpty()) {
      return "";
    }
    CommandProcess.Ended ended = CommandProcess.run(text, log);
    return ended.exitCode() == 0 ? "" : "its " + option + " command " + ended.ending();
  }
}

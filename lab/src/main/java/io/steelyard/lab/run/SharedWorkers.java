package io.steelyard.lab.run;

import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.Timeouts;
import io.steelyard.lab.worker.WorkerCommand;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import io.steelyard.lab.worker.Workers;
import java.util.HashMap;
import java.util.Map;

/**
 * Processes that labels share, one after the other: one for each command that starts an engine. To
 * start a process for every label of every block would take longer than a quick study may.
 */
final class SharedWorkers implements AutoCloseable {
  private final Workers workers;
  private final Map<WorkerCommand, WorkerProcess> processes = new HashMap<>();
  private String current = "";

  SharedWorkers(Workers workers) {
    this.workers = workers;
  }

  /**
   * The process that serves an engine's labels; a lost one is replaced.
   *
   * @param round what it is for, such as a block: those of another round are ended first
   */
  WorkerProcess worker(String round, Study.Engine engine) throws WorkerException {
    if (!round.equals(current)) {
      close();
      current = round;
    }
    WorkerCommand command = workers.command(engine.name(), engine.options());
    WorkerProcess worker = processes.get(command);
    if (worker != null && worker.isAlive()) {
      worker.resume();
      return worker;
    }
    worker = workers.start(round, command, Timeouts.DEFAULT);
    processes.put(command, worker);
    return worker;
  }

  @Override
  public void close() {
    processes.values().forEach(WorkerProcess::close);
    processes.clear();
  }
}

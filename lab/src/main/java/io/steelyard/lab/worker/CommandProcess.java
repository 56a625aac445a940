package io.steelyard.lab.worker;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A command of the user's, run once by the shell. */
public final class CommandProcess {
  private CommandProcess() {}

  /**
   * How a command ended.
   *
   * @param nanos start of the process → its end
   * @param exitCode 0 where all is well
   * @param ending such as {@code exited with code 1}, with the last lines of its standard error
   */
  public record Ended(long nanos, int exitCode, String ending) {}

  /**
   * Runs a command to its end. What it writes to standard output is thrown away; whatever it leaves
   * running is ended with it, and it is ended with this process.
   *
   * @param command for {@code /bin/sh}
   * @param stderrFile takes what it writes to standard error
   * @throws WorkerException if it can't be started
   */
  public static Ended run(String command, Path stderrFile) throws WorkerException {
    ProcessGroup group =
        ProcessGroup.start(
            new WorkerCommand(
                command,
                List.of("/bin/sh", "-c", "exec < /dev/null > /dev/null; " + command),
                Map.of(),
                ""),
            stderrFile);
    try {
      int code = group.process().waitFor();
      long nanos = System.nanoTime() - group.startedNanos();
      return new Ended(nanos, code, code == 0 ? "" : group.ending() + group.stderrTail());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WorkerException(
          WorkerException.Kind.DIED, "interrupted while '" + command + "' ran", e);
    } finally {
      group.kill();
      group.awaitLog();
    }
  }
}

package io.steelyard.lab.worker;

import io.steelyard.lab.worker.LineReader.Line;
import io.steelyard.lab.worker.LineReader.TooLongException;
import io.steelyard.lab.worker.WorkerException.Kind;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Lines to and from a worker, each wait bounded. A worker that breaks the rules is killed with its
 * group, and every later call says why.
 */
final class WorkerChannel {
  /** A request above this size might fill the pipe of a worker that does not read. */
  private static final int PIPE = 1 << 15;

  /** How long the reader may take to drain the pipe of a worker that has ended. */
  private static final long DRAIN_MILLIS = 1_000;

  private static final ScheduledExecutorService WATCHDOG =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("steelyard-watchdog").factory());

  private sealed interface Input {
    record Text(Line line) implements Input {}

    record Broken(String reason) implements Input {}

    record End() implements Input {}
  }

  private final String engine;
  private final ProcessGroup group;
  private final OutputStream requests;

  /** Small, so that a worker that babbles fills its pipe and not the coordinator's memory. */
  private final BlockingQueue<Input> inputs = new ArrayBlockingQueue<>(4);

  private final Thread reader;
  private volatile Optional<WorkerException> failure = Optional.empty();

  WorkerChannel(String engine, ProcessGroup group) {
    this.engine = engine;
    this.group = group;
    this.requests = group.process().getOutputStream();
    this.reader =
        Thread.ofPlatform()
            .daemon()
            .name("steelyard-worker-" + group.pid())
            .start(this::readAnswers);
    var _ = group.process().onExit().thenRunAsync(this::endWithProcess);
  }

  /** Sends a request's line; returns the time just before it was written. */
  long send(String call, byte[] line, Duration timeout) throws WorkerException {
    if (failure.isPresent()) {
      throw gone(call);
    }
    Optional<ScheduledFuture<?>> watch =
        line.length > PIPE
            ? Optional.of(
                WATCHDOG.schedule(
                    () -> fail(timedOut(call, timeout)), timeout.toNanos(), TimeUnit.NANOSECONDS))
            : Optional.empty();
    long sent = System.nanoTime();
    try {
      requests.write(line);
      requests.flush();
      return sent;
    } catch (IOException e) {
      if (failure.isPresent()) {
        throw failure.get();
      }
      // The worker has closed its input; what it said before, or how it ended, says more.
      return sent;
    } finally {
      watch.ifPresent(future -> future.cancel(false));
    }
  }

  /**
   * Waits for the next line.
   *
   * @param deadline in {@link System#nanoTime}
   */
  Line receive(String call, long deadline, Duration timeout) throws WorkerException {
    try {
      long left = deadline - System.nanoTime();
      if (left <= 0) {
        // Events that come without end would otherwise be taken without end.
        throw fail(timedOut(call, timeout));
      }
      Input input = inputs.poll(left, TimeUnit.NANOSECONDS);
      return switch (input) {
        case null -> throw fail(timedOut(call, timeout));
        case Input.Text text -> text.line();
        case Input.Broken broken -> throw garbage(call, broken.reason(), new byte[0]);
        case Input.End _ -> throw died(call);
      };
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw fail(
          new WorkerException(
              Kind.DIED, subject() + " was stopped: interrupted during '" + call + "'", e));
    }
  }

  /** Kills a worker that answered with something else than the protocol. */
  WorkerException garbage(String call, String reason, byte[] line) {
    String quoted =
        line.length == 0
            ? ""
            : "\nThe line: "
                + Printable.line(
                    new String(line, 0, Math.min(line.length, 200), StandardCharsets.UTF_8));
    return fail(
        new WorkerException(
            Kind.GARBAGE,
            "%s did not speak the worker protocol in '%s': %s. Its standard output must carry the protocol alone.%s%s"
                .formatted(subject(), call, reason, quoted, group.stderrTail())));
  }

  /** Ends the worker: no more requests, a short wait, then the signal. */
  void close(Duration timeout) {
    try {
      try {
        requests.close();
      } catch (IOException _) {
        // It has gone already.
      }
      if (failure.isPresent() || !group.process().waitFor(timeout)) {
        group.kill();
      }
      group.process().waitFor();
      group.awaitLog();
    } catch (InterruptedException e) {
      group.kill();
      Thread.currentThread().interrupt();
    }
    reader.interrupt();
    // The reader may not have told a caller that still waits; full, there is enough to wake it.
    var _ = inputs.offer(new Input.End());
    failure =
        failure.or(
            () -> Optional.of(new WorkerException(Kind.DIED, subject() + " has been closed")));
  }

  private WorkerException died(String call) {
    try {
      // Its output has ended; a worker that only closed it gets no more time than this.
      if (!group.process().waitFor(DRAIN_MILLIS, TimeUnit.MILLISECONDS)) {
        return garbage(call, "it closed its standard output but goes on", new byte[0]);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return fail(new WorkerException(Kind.DIED, subject() + " was stopped: interrupted", e));
    }
    return fail(
        new WorkerException(
            Kind.DIED,
            subject() + " " + group.ending() + " during '" + call + "'" + group.stderrTail()));
  }

  private WorkerException timedOut(String call, Duration timeout) {
    return new WorkerException(
        Kind.TIMED_OUT,
        "%s gave no answer to '%s' in %s and was killed%s"
            .formatted(subject(), call, seconds(timeout), group.stderrTail()));
  }

  private WorkerException gone(String call) {
    WorkerException cause = failure.orElseThrow();
    return new WorkerException(
        cause.kind(), "'" + call + "' can't be called: " + cause.getMessage(), cause);
  }

  private WorkerException fail(WorkerException reason) {
    failure = Optional.of(reason);
    group.kill();
    return reason;
  }

  private String subject() {
    return "engine '" + engine + "' (process " + group.pid() + ")";
  }

  private static String seconds(Duration duration) {
    return duration.toMillis() % 1000 == 0
        ? duration.toSeconds() + " s"
        : duration.toMillis() + " ms";
  }

  private void readAnswers() {
    LineReader lines = new LineReader(group.process().getInputStream(), Json.MAX_LINE);
    try {
      try {
        for (Optional<Line> line = lines.next(); line.isPresent(); line = lines.next()) {
          inputs.put(new Input.Text(line.get()));
        }
        inputs.put(new Input.End());
      } catch (TooLongException e) {
        inputs.put(new Input.Broken(e.getMessage()));
      } catch (IOException e) {
        // The stream is closed under the reader when the process is destroyed.
        inputs.put(new Input.End());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * A process that left the group may hold the pipe open for ever; the call must end all the same.
   */
  private void endWithProcess() {
    try {
      reader.join(DRAIN_MILLIS);
      if (reader.isAlive()) {
        inputs.put(new Input.End());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

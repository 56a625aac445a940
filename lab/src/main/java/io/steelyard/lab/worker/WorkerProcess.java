package io.steelyard.lab.worker;

import io.steelyard.lab.worker.LineReader.Line;
import io.steelyard.lab.worker.Wire.Answer;
import io.steelyard.lab.worker.Wire.LayersFileReport;
import io.steelyard.lab.worker.Wire.LogitsReport;
import io.steelyard.lab.worker.Wire.Nothing;
import io.steelyard.lab.worker.Wire.RowsRequest;
import io.steelyard.lab.worker.Wire.TokenizeReport;
import io.steelyard.lab.worker.Wire.TokenizeRequest;
import io.steelyard.lab.worker.WorkerException.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A worker as its coordinator sees it: a fresh process that serves one engine, called over its
 * standard streams. Calls are made one at a time; {@link #close} may come from any thread and ends
 * a call that is running.
 *
 * <p>Every call throws a {@link WorkerException} that says what went wrong; after any kind but
 * {@code REFUSED} the process and all that it started are gone.
 */
public final class WorkerProcess implements AutoCloseable {
  private final ProcessGroup group;
  private final WorkerChannel channel;
  private final Timeouts timeouts;
  private final Path scratch;
  private final AtomicLong files = new AtomicLong();
  private final ReentrantLock calling = new ReentrantLock();
  private EngineInfo info;
  private long readyNanos;
  private final AtomicBoolean closed = new AtomicBoolean();
  private long lastId;
  private long compileNanos;

  private WorkerProcess(
      ProcessGroup group, WorkerChannel channel, Path scratch, Timeouts timeouts) {
    this.group = group;
    this.channel = channel;
    this.scratch = scratch;
    this.timeouts = timeouts;
  }

  /**
   * Starts a worker and waits for its answer to {@code hello}.
   *
   * @param stderrFile takes what the worker prints, appended
   * @param scratchDir for bulk data; made if it is not there
   */
  public static WorkerProcess start(
      WorkerCommand command, Path stderrFile, Path scratchDir, Timeouts timeouts)
      throws WorkerException {
    Path scratch;
    try {
      scratch = Files.createTempDirectory(Files.createDirectories(scratchDir), "worker-");
    } catch (IOException e) {
      throw new WorkerException(
          Kind.NOT_STARTED,
          "scratch folder " + scratchDir + " can't be used: " + e.getMessage(),
          e);
    }
    ProcessGroup group = ProcessGroup.start(command, stderrFile);
    WorkerProcess worker =
        new WorkerProcess(group, new WorkerChannel(command.engine(), group), scratch, timeouts);
    try {
      Timed<EngineInfo> hello = worker.call("hello", Nothing.NOTHING, EngineInfo.class);
      worker.info = hello.value();
      return worker;
    } catch (WorkerException e) {
      worker.close();
      throw e;
    }
  }

  /** What the engine said of itself when it was started. */
  public EngineInfo info() {
    return info;
  }

  /** The worker's process id, which is also its process group. */
  public long pid() {
    return group.pid();
  }

  /** {@link System#nanoTime} just before the process was started. */
  public long startedNanos() {
    return group.startedNanos();
  }

  /** {@link System#nanoTime} when the answer to {@code hello} had arrived. */
  public long readyNanos() {
    return readyNanos;
  }

  /** Time that the worker's runtime has compiled, as far as it has told; 0 where it does not. */
  public long compileNanos() {
    return compileNanos;
  }

  /** Stops the process between two calls, so that it takes no time from another. */
  public void pause() {
    group.pause();
  }

  /** Lets the process go on after {@link #pause}. */
  public void resume() {
    group.resume();
  }

  /** Whether the process still runs. */
  public boolean isAlive() {
    return group.process().isAlive();
  }

  /** The operating system's figures for the process. */
  public ProcessMemory processMemory() throws IOException {
    return ProcessMemory.read(pid());
  }

  /** See {@link Engine#hello}. */
  public Timed<EngineInfo> hello() throws WorkerException {
    return call("hello", Nothing.NOTHING, EngineInfo.class);
  }

  /** See {@link Engine#load}. */
  public Timed<LoadReport> load(LoadRequest request) throws WorkerException {
    return call("load", request, LoadReport.class);
  }

  /** See {@link Engine#tokenize}. */
  public Timed<int[]> tokenize(String text, boolean parseSpecial) throws WorkerException {
    Timed<TokenizeReport> reply =
        call("tokenize", new TokenizeRequest(text, parseSpecial), TokenizeReport.class);
    return new Timed<>(reply.value().ids(), reply.outsideNanos());
  }

  /** See {@link Engine#logits}. The caller closes the rows. */
  public Timed<FloatRows> logits(int[] ids) throws WorkerException {
    Path file = scratchFile("logits");
    Timed<LogitsReport> reply = callForRows("logits", ids, file, LogitsReport.class);
    LogitsReport report = reply.value();
    if (report.rows() != ids.length) {
      throw channel.garbage(
          "logits", report.rows() + " rows for " + ids.length + " ids", new byte[0]);
    }
    return new Timed<>(map("logits", file, report.rows(), report.width()), reply.outsideNanos());
  }

  /**
   * The same position by position, as they are computed; the caller closes them.
   *
   * @param vocabulary logits a position
   */
  public LogitsStream logits(int[] ids, int vocabulary) throws IOException {
    return LogitsStream.open(this, ids, vocabulary, scratchFile("logits"));
  }

  LogitsReport logits(int[] ids, Path file) throws WorkerException {
    return call("logits", new RowsRequest(ids, file.toString()), LogitsReport.class).value();
  }

  WorkerException garbage(String call, String why) {
    return channel.garbage(call, why, new byte[0]);
  }

  /**
   * What {@code layers} gave.
   *
   * @param names of the blocks, in order
   * @param positions rows of each block
   * @param rows all blocks, one after the other; the caller closes them
   */
  public record Layers(List<String> names, long positions, FloatRows rows) {}

  /** See {@link Engine#layers}. */
  public Timed<Layers> layers(int[] ids) throws WorkerException {
    Path file = scratchFile("layers");
    Timed<LayersFileReport> reply = callForRows("layers", ids, file, LayersFileReport.class);
    LayersFileReport report = reply.value();
    if (report.rows() != ids.length) {
      throw channel.garbage(
          "layers", report.rows() + " rows a layer for " + ids.length + " ids", new byte[0]);
    }
    FloatRows rows = map("layers", file, report.names().size() * report.rows(), report.width());
    return new Timed<>(new Layers(report.names(), report.rows(), rows), reply.outsideNanos());
  }

  /** See {@link Engine#prefill}. */
  public Timed<PrefillReport> prefill(PrefillRequest request) throws WorkerException {
    return call("prefill", request, PrefillReport.class);
  }

  /**
   * See {@link Engine#decode}.
   *
   * @param listener told of each token if the request streams
   */
  public Timed<DecodeReport> decode(DecodeRequest request, TokenListener listener)
      throws WorkerException {
    return call("decode", request, DecodeReport.class, listener);
  }

  /** See {@link Engine#forward}. */
  public Timed<ForwardReport> forward(ForwardRequest request) throws WorkerException {
    return call("forward", request, ForwardReport.class);
  }

  /** See {@link Engine#kernel}. */
  public Timed<KernelReport> kernel(KernelRequest request) throws WorkerException {
    return call("kernel", request, KernelReport.class);
  }

  /** See {@link Engine#memory}. */
  public Timed<MemoryReport> memory() throws WorkerException {
    return call("memory", Nothing.NOTHING, MemoryReport.class);
  }

  /** See {@link Engine#reset}. */
  public void reset() throws WorkerException {
    call("reset", Nothing.NOTHING, Nothing.class);
  }

  /** Asks the worker to close, waits shortly, and kills what is left of it. Never fails. */
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    group.resume();
    if (calling.tryLock()) {
      try {
        call("close", Nothing.NOTHING, Nothing.class);
      } catch (WorkerException _) {
        // Whatever it answered, it is ended now, before another thread's call can begin.
      } finally {
        channel.close(timeouts.close());
        calling.unlock();
      }
    } else {
      group.kill();
      channel.close(timeouts.close());
    }
    deleteScratch();
  }

  /** Sends a line as it is and gives the line that comes back; for the conformance check. */
  Line exchange(String call, byte[] line) throws WorkerException {
    calling.lock();
    try {
      Duration timeout = timeouts.of(call);
      long sent = channel.send(call, line, timeout);
      return channel.receive(call, sent + timeout.toNanos(), timeout);
    } finally {
      calling.unlock();
    }
  }

  /** Closes the worker's standard input and waits for its end; false if it goes on. */
  boolean endsWithInput(Duration patience) throws InterruptedException {
    try {
      group.process().getOutputStream().close();
    } catch (IOException _) {
      // It has ended already.
    }
    return ends(patience);
  }

  /** Makes the call {@code close} and nothing more; for the conformance check. */
  void askToClose() throws WorkerException {
    call("close", Nothing.NOTHING, Nothing.class);
  }

  /** Waits for the worker's end; false if it goes on. */
  boolean ends(Duration patience) throws InterruptedException {
    return group.process().waitFor(patience);
  }

  private <R extends Record> Timed<R> call(String call, Record parameters, Class<R> result)
      throws WorkerException {
    return call(call, parameters, result, TokenListener.NONE);
  }

  private <R extends Record> Timed<R> call(
      String call, Record parameters, Class<R> result, TokenListener listener)
      throws WorkerException {
    calling.lock();
    try {
      long id = ++lastId;
      Duration timeout = timeouts.of(call);
      long sent = channel.send(call, Wire.request(id, call, parameters), timeout);
      while (true) {
        Line line = channel.receive(call, sent + timeout.toNanos(), timeout);
        switch (answer(call, id, line)) {
          case Answer.Token token -> listener.token(token.token());
          case Answer.Refusal refusal ->
              throw new WorkerException(refusal.kind(), Printable.line(refusal.message()));
          case Answer.Ok ok -> {
            compileNanos = Math.max(compileNanos, ok.compileNanos());
            R value = result(call, result, ok.result(), line);
            if (readyNanos == 0) {
              readyNanos = line.arrivedNanos();
            }
            return new Timed<>(value, line.arrivedNanos() - sent);
          }
        }
      }
    } finally {
      calling.unlock();
    }
  }

  private Answer answer(String call, long id, Line line) throws WorkerException {
    Answer answer;
    try {
      answer = Wire.parseAnswer(line.bytes());
    } catch (WireException e) {
      throw channel.garbage(call, e.getMessage(), line.bytes());
    }
    if (answer.id() != id) {
      throw channel.garbage(call, "the answer has id " + answer.id() + ", not " + id, line.bytes());
    }
    return answer;
  }

  private <R extends Record> R result(
      String call, Class<R> type, Map<String, Object> members, Line line) throws WorkerException {
    try {
      return RecordCodec.read(type, members, call);
    } catch (WireException e) {
      throw channel.garbage(call, e.getMessage(), line.bytes());
    }
  }

  private Path scratchFile(String call) {
    return scratch.resolve(call + "-" + files.incrementAndGet() + ".f32");
  }

  private <R extends Record> Timed<R> callForRows(
      String call, int[] ids, Path file, Class<R> result) throws WorkerException {
    try {
      return call(call, new RowsRequest(ids, file.toString()), result);
    } catch (WorkerException e) {
      // Half-written rows are of no use, and may be what fills the disk.
      try {
        Files.deleteIfExists(file);
      } catch (IOException unclean) {
        e.addSuppressed(unclean);
      }
      throw e;
    }
  }

  private FloatRows map(String call, Path file, long rows, int width) throws WorkerException {
    try {
      return FloatRows.map(file, rows, width);
    } catch (WireException e) {
      throw channel.garbage(call, e.getMessage(), new byte[0]);
    } catch (IOException e) {
      throw channel.garbage(call, "its file can't be read: " + e.getMessage(), new byte[0]);
    }
  }

  private void deleteScratch() {
    try (var files = Files.newDirectoryStream(scratch)) {
      for (Path file : files) {
        Files.delete(file);
      }
      Files.deleteIfExists(scratch);
    } catch (IOException e) {
      System.err.println("scratch folder " + scratch + " can't be deleted: " + e.getMessage());
    }
  }
}

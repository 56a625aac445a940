package io.steelyard.engines.attention;

import io.steelyard.kernels.attention.AttentionOutputs;
import io.steelyard.kernels.attention.RingShards;
import io.steelyard.lab.TemporaryFolder;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.KernelReport;
import io.steelyard.lab.worker.KernelRequest;
import io.steelyard.lab.worker.LoadRequest;
import io.steelyard.lab.worker.Timeouts;
import io.steelyard.lab.worker.WorkerCommand;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The processes of a ring, as their coordinator sees them. They end with it: when it closes them,
 * when it is killed, and all of them when one fails, hangs or dies.
 */
final class Ranks implements AutoCloseable {
  /** How long others may take to say what they know of a failure. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  /** A pass takes as long as it takes: ranks watch one another, and the caller watches all. */
  private static final Duration LONGEST_CALL = Duration.ofDays(7);

  /** Who takes this many times what another took, and a rank's patience beside, hangs. */
  private static final int HANGING = 20;

  private static final KernelReport NONE = new KernelReport(0, 0);

  private final RingProblem problem;
  private final TemporaryFolder folder = TemporaryFolder.make();
  private final byte[] token = new byte[Port.TOKEN];
  private final List<WorkerProcess> workers = new ArrayList<>();
  private final List<Link> links = new ArrayList<>();
  private Optional<String> ended = Optional.empty();
  private final ExecutorService callers =
      Executors.newCachedThreadPool(
          Thread.ofPlatform().daemon().name("steelyard-rank-", 0).factory());

  /** A call that was made, and of whom. */
  private record Call(String who, Future<KernelReport> answer) {}

  /** What went wrong with a call. */
  private record Failure(String who, Throwable why) {
    boolean isOfProcess() {
      return why instanceof WorkerException e && e.kind() != WorkerException.Kind.REFUSED;
    }

    boolean isStall() {
      return Link.isStall(why.getMessage());
    }

    String text() {
      return who + ": " + why.getMessage();
    }
  }

  private Ranks(RingProblem problem) {
    this.problem = problem;
    new SecureRandom().nextBytes(token);
  }

  /**
   * Starts all ranks and makes them a ring.
   *
   * @throws EngineException if one can't be started or doesn't find the others; then none is left
   */
  static Ranks start(RingProblem problem) throws EngineException {
    Ranks ranks = new Ranks(problem);
    try {
      ranks.startAll();
      ranks.connect();
      return ranks;
    } catch (WorkerException e) {
      ranks.close();
      throw failure(e.getMessage());
    } catch (IOException e) {
      ranks.close();
      throw failure("the ranks can't be connected: " + e.getMessage());
    } catch (EngineException | RuntimeException e) {
      ranks.close();
      throw e;
    }
  }

  private void startAll() throws WorkerException {
    List<Future<WorkerProcess>> starting = new ArrayList<>();
    for (int rank = 0; rank < problem.ranks(); rank++) {
      int own = rank;
      starting.add(callers.submit(() -> start(own)));
    }
    Optional<Throwable> failed = Optional.empty();
    for (Future<WorkerProcess> each : starting) {
      try {
        workers.add(each.get());
      } catch (ExecutionException e) {
        failed = failed.or(() -> Optional.of(e.getCause()));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        failed = Optional.of(e);
      }
    }
    if (failed.isPresent()) {
      if (failed.get() instanceof WorkerException e) {
        throw e;
      }
      throw new IllegalStateException("a rank can't be started", failed.get());
    }
  }

  private WorkerProcess start(int rank) throws WorkerException {
    Map<String, String> options = new LinkedHashMap<>(problem.options());
    options.put(RankEngine.RANK, Integer.toString(rank));
    options.put(RankEngine.TOKEN, HexFormat.of().formatHex(token));
    WorkerCommand jvm = WorkerCommand.jvm(new RankProvider(), options);
    WorkerProcess worker =
        WorkerProcess.start(
            new WorkerCommand(
                "rank %d of %d".formatted(rank, problem.ranks()),
                jvm.command(),
                jvm.environment(),
                jvm.cpus()),
            folder.path().resolve("rank-" + rank + ".log"),
            folder.path(),
            Timeouts.DEFAULT.withCall(LONGEST_CALL));
    try {
      var _ = worker.load(new LoadRequest("", problem.threads(), 1, "f16", false, options));
      return worker;
    } catch (WorkerException e) {
      worker.close();
      throw e;
    }
  }

  private void connect() throws EngineException, IOException {
    List<Long> ports =
        call(RankEngine.LISTEN, _ -> Map.of()).stream()
            .map(report -> report.counts().orElseThrow().get(RankEngine.PORT))
            .toList();
    try (Port own = Port.open(token)) {
      long number = own.number();
      Future<Map<Integer, SocketChannel>> coming =
          callers.submit(
              () ->
                  own.await(
                      IntStream.range(0, problem.ranks()).boxed().collect(Collectors.toSet()),
                      problem.patience()));
      call(
          RankEngine.CONNECT,
          rank ->
              Map.of(
                  RankEngine.COORDINATOR,
                  number,
                  RankEngine.PORT,
                  ports.get((rank + 1) % ports.size())));
      Map<Integer, SocketChannel> channels = result(coming);
      for (int rank = 0; rank < problem.ranks(); rank++) {
        links.add(new Link("rank " + rank, channels.get(rank)));
      }
    }
  }

  /** The processes' ids, by rank. */
  List<Long> pids() {
    return workers.stream().map(WorkerProcess::pid).toList();
  }

  /** The largest resident memory of each rank so far; 0 where it can't be read. */
  List<Long> peakBytes() {
    return workers.stream()
        .map(
            worker -> {
              try {
                return worker.processMemory().peak();
              } catch (IOException e) {
                return 0L;
              }
            })
        .toList();
  }

  /**
   * Makes a call to all ranks at once.
   *
   * @return the answers by rank
   * @throws EngineException if one fails; then all have ended, and the message says which failed
   *     and how
   */
  List<KernelReport> call(String name, IntFunction<Map<String, Long>> shape)
      throws EngineException {
    requireAlive();
    List<Call> calls = new ArrayList<>();
    for (int rank = 0; rank < workers.size(); rank++) {
      calls.add(call(rank, name, shape.apply(rank)));
    }
    return answers(calls);
  }

  private void requireAlive() throws EngineException {
    if (ended.isPresent()) {
      throw failure("the ring has ended: " + ended.get());
    }
  }

  private Call call(int rank, String name, Map<String, Long> shape) {
    WorkerProcess worker = workers.get(rank);
    Future<KernelReport> answer =
        callers.submit(() -> worker.kernel(new KernelRequest(name, shape, 0)).value());
    return new Call("rank %d (process %d)".formatted(rank, worker.pid()), answer);
  }

  /**
   * Takes all results from the ranks.
   *
   * @throws EngineException as {@link #call}
   */
  void gather(RingShards shards, AttentionOutputs whole) throws EngineException {
    requireAlive();
    for (int rank = 0; rank < workers.size(); rank++) {
      Link link = links.get(rank);
      try (Arena arena = Arena.ofShared()) {
        AttentionOutputs part = AttentionOutputs.allocate(arena, shards.shape(rank), whole.type());
        Future<KernelReport> taken =
            callers.submit(
                () -> {
                  Link.run(problem.patience(), List.of(link.receiving(part.out())));
                  Link.run(problem.patience(), List.of(link.receiving(part.logSums())));
                  return NONE;
                });
        var _ =
            answers(
                List.of(
                    call(rank, RankEngine.GATHER, Map.of()), new Call("the coordinator", taken)));
        shards.collect(rank, part, whole);
      }
    }
  }

  /** What became of calls that were made at the same time. */
  private List<KernelReport> answers(List<Call> calls) throws EngineException {
    long began = System.nanoTime();
    long limit = Long.MAX_VALUE;
    while (failures(calls).isEmpty() && pending(calls) && System.nanoTime() - began < limit) {
      pause(calls);
      if (limit == Long.MAX_VALUE && calls.stream().anyMatch(call -> call.answer().isDone())) {
        // All have as much to do: who takes far longer than another hangs.
        limit = problem.patience().toNanos() + HANGING * (System.nanoTime() - began);
      }
    }
    if (failures(calls).isEmpty() && !pending(calls)) {
      return calls.stream().map(call -> call.answer().resultNow()).toList();
    }
    long deadline = System.nanoTime() + GRACE.toNanos();
    while (System.nanoTime() < deadline && pending(calls)) {
      pause(calls);
    }
    ended = Optional.of(cause(calls));
    close();
    throw failure(ended.get());
  }

  private static boolean pending(List<Call> calls) {
    return calls.stream().anyMatch(call -> !call.answer().isDone());
  }

  /** Waits for an answer, for a moment. */
  private static void pause(List<Call> calls) throws EngineException {
    try {
      for (Call call : calls) {
        if (!call.answer().isDone()) {
          var _ = call.answer().get(1, TimeUnit.MILLISECONDS);
        }
      }
    } catch (ExecutionException | TimeoutException _) {
      // Whoever waits looks at it himself.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failure("interrupted while the ranks worked");
    }
  }

  private static List<Failure> failures(List<Call> calls) {
    return calls.stream()
        .filter(call -> call.answer().state() == Future.State.FAILED)
        .map(call -> new Failure(call.who(), call.answer().exceptionNow()))
        .toList();
  }

  /**
   * Why calls failed. A process that died explains all others. Else a rank that failed by itself
   * does; else one that still says nothing while another has waited for it in vain: it hangs.
   */
  private static String cause(List<Call> calls) {
    List<Failure> failures = failures(calls);
    List<String> silent =
        calls.stream().filter(call -> !call.answer().isDone()).map(Call::who).toList();
    if (failures.isEmpty()) {
      return "%s gave no answer, long after the others, and all were ended"
          .formatted(String.join(" and ", silent));
    }
    Optional<Failure> died = failures.stream().filter(Failure::isOfProcess).findFirst();
    if (died.isPresent()) {
      return died.get().why().getMessage();
    }
    Failure first =
        failures.stream()
            .filter(failure -> !Link.isOfPeer(failure.why().getMessage()))
            .findFirst()
            .or(() -> failures.stream().filter(Failure::isStall).findFirst())
            .orElse(failures.getFirst());
    return first.isStall() && !silent.isEmpty()
        ? "%s gave no answer and was ended with the others: %s"
            .formatted(String.join(" and ", silent), first.text())
        : first.text();
  }

  private static <T> T result(Future<T> future) throws IOException {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException io
          ? io
          : new IOException(e.getCause().getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private static EngineException failure(String message) {
    return new EngineException(Kind.FAILED, message);
  }

  /** Ends all ranks. */
  @Override
  public void close() {
    for (Link link : links) {
      try {
        link.close();
      } catch (IOException _) {
        // The ranks are ended all the same.
      }
    }
    if (callers.isShutdown()) {
      return;
    }
    List<Future<?>> closing = new ArrayList<>();
    for (WorkerProcess worker : workers) {
      closing.add(callers.submit(worker::close));
    }
    for (Future<?> each : closing) {
      try {
        var _ = each.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("a rank can't be ended", e.getCause());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    callers.shutdown();
    workers.clear();
    links.clear();
    folder.close();
  }
}

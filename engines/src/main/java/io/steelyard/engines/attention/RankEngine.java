package io.steelyard.engines.attention;

import io.steelyard.engines.attention.RingProblem.Count;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Rows;
import io.steelyard.kernels.attention.AttentionInputs;
import io.steelyard.kernels.attention.AttentionOutputs;
import io.steelyard.kernels.attention.Counts;
import io.steelyard.kernels.attention.MemoryPool;
import io.steelyard.kernels.attention.PatternCache;
import io.steelyard.kernels.attention.RankPass;
import io.steelyard.kernels.attention.RankVariant;
import io.steelyard.kernels.attention.RingShards;
import io.steelyard.kernels.attention.Workbench;
import io.steelyard.kernels.machine.SystemMemory;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.KernelReport;
import io.steelyard.lab.worker.KernelRequest;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.LoadRequest;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;

/**
 * One rank of a ring, in a process of its own. It holds the queries, keys and values of its own
 * positions alone; the keys and values of the others come from the rank before it, one block a
 * step, and go on to the next while it computes with them.
 *
 * <p>A {@code load} says which rank it is; {@code kernel} calls by these names do the rest: {@link
 * #LISTEN} opens its port, {@link #CONNECT} makes the ring, {@link #HOLD} makes its shard of a
 * length, {@link #PASS} is one pass, {@link #GATHER} sends the results to the coordinator.
 */
final class RankEngine extends AttentionKernelEngine {
  static final String NAME = "attention-rank";

  static final String LISTEN = "listen";
  static final String CONNECT = "connect";
  static final String HOLD = "hold";
  static final String PASS = "pass";
  static final String GATHER = "gather";

  /** Options of a load beside those of the problem. */
  static final String RANK = "rank";

  static final String TOKEN = "token";

  /** In the shape of calls. */
  static final String PORT = "port";

  static final String COORDINATOR = "coordinator";
  static final String LENGTH = "length";

  private static final MemorySegment EMPTY = Arena.global().allocate(0);

  private final ExecutorService travel =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("steelyard-ring-travel").factory());
  private RingProblem problem;
  private int rank;
  private byte[] token = {};
  private Workbench workbench;
  private Port port;
  private Link previous;
  private Link next;
  private Link coordinator;
  private Shard shard;

  /**
   * What the rank holds.
   *
   * @param own its keys and values
   * @param others room for those of others: one block comes while another is worked on and sent
   */
  private record Shard(
      Arena arena,
      RingShards shards,
      RankVariant variant,
      List<Long> blockBytes,
      AttentionInputs inputs,
      AttentionOutputs outputs,
      MemorySegment own,
      List<MemorySegment> others) {}

  RankEngine() {
    super(NAME);
  }

  @Override
  public LoadReport load(LoadRequest request) throws EngineException {
    long start = System.nanoTime();
    try {
      problem = RingProblem.of(request.options());
      rank = Integer.parseInt(request.options().get(RANK));
      token = HexFormat.of().parseHex(request.options().get(TOKEN));
      workbench =
          new Workbench(
              problem.problem().tier(),
              problem.threads(),
              MemoryPool.pooled(),
              new PatternCache(PATTERNS));
    } catch (IllegalArgumentException | UnsupportedOperationException e) {
      throw new EngineException(Kind.BAD_REQUEST, e.getMessage(), e);
    }
    return loaded(start, problem.threads());
  }

  @Override
  public KernelReport kernel(KernelRequest request) throws EngineException {
    try {
      return switch (request.name()) {
        case LISTEN -> listen();
        case CONNECT -> connect(request.shape());
        case HOLD -> hold(request.shape().get(LENGTH).intValue());
        case PASS -> pass();
        case GATHER -> gather();
        default -> throw EngineException.unsupported(request.name());
      };
    } catch (IOException e) {
      // Whoever waits for this rank is to learn of it at once.
      disconnect();
      throw new EngineException(Kind.FAILED, e.getMessage());
    } catch (OutOfMemoryError e) {
      disconnect();
      throw new EngineException(
          Kind.FAILED, "the rank needs more memory than there is: " + e.getMessage(), e);
    }
  }

  private KernelReport listen() throws IOException {
    port = Port.open(token);
    return new KernelReport(0, 0, Optional.of(Map.of(PORT, (long) port.number())));
  }

  private KernelReport connect(Map<String, Long> shape) throws IOException {
    try (Port own = port) {
      coordinator =
          new Link(
              "the coordinator",
              Port.connect(shape.get(COORDINATOR).intValue(), token, rank, problem.patience()));
      if (problem.ranks() > 1) {
        int after = (rank + 1) % problem.ranks();
        int before = Math.floorMod(rank - 1, problem.ranks());
        next =
            new Link(
                "rank " + after,
                Port.connect(shape.get(PORT).intValue(), token, rank, problem.patience()));
        previous =
            new Link("rank " + before, own.await(Set.of(before), problem.patience()).get(before));
      }
      return new KernelReport(0, 0);
    }
  }

  private KernelReport hold(int length) {
    forget();
    RingShards shards = problem.shards(length);
    RankVariant variant = problem.ranks(length);
    DataType type = problem.problem().type();
    List<Long> blockBytes =
        LongStream.range(0, problem.ranks())
            .mapToObj(of -> variant.blockBytes((int) of, type))
            .toList();
    long most = blockBytes.stream().mapToLong(Long::longValue).max().orElseThrow();
    Arena arena = Arena.ofShared();
    MemorySegment own = SystemMemory.zeros(arena, blockBytes.get(rank), Rows.ALIGNMENT);
    shard =
        new Shard(
            arena,
            shards,
            variant,
            blockBytes,
            variant.inputs(arena, type, rank, SEED, own),
            AttentionOutputs.allocate(arena, shards.shape(rank), type),
            own,
            problem.ranks() == 1
                ? List.of()
                : List.of(
                    SystemMemory.zeros(arena, most, Rows.ALIGNMENT),
                    SystemMemory.zeros(arena, most, Rows.ALIGNMENT)));
    return new KernelReport(0, 0);
  }

  /** Waits until all ranks have come as far: after so many steps each has heard of every other. */
  private void barrier() throws IOException {
    for (int step = 1; step < problem.ranks(); step++) {
      exchange(EMPTY, EMPTY);
    }
  }

  private void exchange(MemorySegment send, MemorySegment receive) throws IOException {
    Link.run(problem.patience(), List.of(next.sending(send), previous.receiving(receive)));
  }

  private KernelReport pass() throws IOException {
    barrier();
    long sent = problem.ranks() == 1 ? 0 : next.bytesOut();
    long received = problem.ranks() == 1 ? 0 : previous.bytesIn();
    Counts before = workbench.counts();
    long computing = 0;
    long waiting = 0;
    long met = 0;
    long start = System.nanoTime();
    try (RankPass pass = shard.variant().begin(rank, shard.inputs(), shard.own(), workbench)) {
      computing += System.nanoTime() - start;
      MemorySegment held = shard.own();
      for (int step = 0; step < problem.ranks(); step++) {
        MemorySegment here = held;
        Optional<Future<?>> coming = Optional.empty();
        if (step < problem.ranks() - 1) {
          MemorySegment room =
              shard
                  .others()
                  .get(step % 2)
                  .asSlice(0, shard.blockBytes().get(shard.shards().source(rank, step + 1)));
          coming = Optional.of(send(here, room));
          held = room;
        }
        long began = System.nanoTime();
        met += pass.meet(shard.shards().source(rank, step), here) ? 1 : 0;
        long computed = System.nanoTime();
        computing += computed - began;
        if (coming.isPresent()) {
          await(coming.get());
          waiting += System.nanoTime() - computed;
        }
      }
      long began = System.nanoTime();
      pass.finish(shard.outputs());
      computing += System.nanoTime() - began;
    }
    long nanos = System.nanoTime() - start;
    Counts done = workbench.counts().since(before);
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put(Count.SCORES.label(), done.scores());
    counts.put(Count.COMPUTE_NANOS.label(), computing);
    counts.put(Count.WAIT_NANOS.label(), waiting);
    counts.put(Count.SENT_BYTES.label(), problem.ranks() == 1 ? 0 : next.bytesOut() - sent);
    counts.put(
        Count.RECEIVED_BYTES.label(), problem.ranks() == 1 ? 0 : previous.bytesIn() - received);
    counts.put(
        Count.SCRATCH_BYTES.label(),
        done.scratchBytes() + shard.others().stream().mapToLong(MemorySegment::byteSize).sum());
    counts.put(Count.MOVED_BYTES.label(), done.bytesMoved());
    counts.put(Count.BLOCKS_MET.label(), met);
    return new KernelReport(nanos, 0, Optional.of(counts));
  }

  private Future<?> send(MemorySegment block, MemorySegment room) {
    return travel.submit(
        () -> {
          exchange(block, room);
          return room;
        });
  }

  private static void await(Future<?> coming) throws IOException {
    try {
      var _ = coming.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException cause) {
        throw cause;
      }
      throw new IllegalStateException("a block can't travel", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while a block was on its way", e);
    }
  }

  private KernelReport gather() throws IOException {
    Link.run(problem.patience(), List.of(coordinator.sending(shard.outputs().out())));
    Link.run(problem.patience(), List.of(coordinator.sending(shard.outputs().logSums())));
    return new KernelReport(0, 0);
  }

  private void disconnect() {
    for (Link link : new Link[] {previous, next, coordinator}) {
      if (link != null) {
        try {
          link.close();
        } catch (IOException _) {
          // The peer sees its end all the same.
        }
      }
    }
  }

  private void forget() {
    if (shard != null) {
      shard.arena().close();
      shard = null;
    }
  }

  @Override
  public void close() {
    disconnect();
    travel.shutdown();
    forget();
    if (workbench != null) {
      workbench.close();
      workbench = null;
    }
  }
}

package io.steelyard.kernels.attention;

import io.steelyard.kernels.Rows;
import io.steelyard.kernels.machine.SystemMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Scratch memory that is used again. Pieces have sizes of a few classes (four to each power of
 * two), begin on cache lines and hold, by contract, whatever was in them: {@link #takeCleared}
 * gives zeros. A piece goes back when its {@link Piece} is closed; all memory goes back to the
 * system when the pool is closed. For any number of threads.
 */
public final class MemoryPool implements AutoCloseable {
  private static final long SMALLEST = 4096;

  private final boolean reuse;
  private final boolean poison;
  private final Map<Long, Deque<Block>> free = new HashMap<>();
  private long allocations;
  private long reuses;
  private long asked;
  private long held;
  private long used;
  private long peak;
  private boolean closed;

  private record Block(Arena arena, MemorySegment memory) {}

  /**
   * What a pool did.
   *
   * @param allocations pieces that came from the system
   * @param reuses pieces that had been used before
   * @param heldBytes what the pool has from the system at present
   * @param peakBytes the most it had
   * @param usedBytes of the pieces that are out at present
   * @param fragmentation share of those bytes that nobody asked for
   */
  public record Statistics(
      long allocations,
      long reuses,
      long heldBytes,
      long peakBytes,
      long usedBytes,
      double fragmentation) {}

  /** A piece of memory. Closing it gives it back; it must not be used after that. */
  public final class Piece implements AutoCloseable {
    private final Block block;
    private final long bytes;
    private boolean given;

    private Piece(Block block, long bytes) {
      this.block = block;
      this.bytes = bytes;
    }

    public MemorySegment memory() {
      return block.memory().asSlice(0, bytes);
    }

    public long address() {
      return block.memory().address();
    }

    @Override
    public void close() {
      giveBack(this);
    }
  }

  private MemoryPool(boolean reuse, boolean poison) {
    this.reuse = reuse;
    this.poison = poison;
  }

  /** A pool that keeps what is given back. */
  public static MemoryPool pooled() {
    return new MemoryPool(true, false);
  }

  /** One that keeps nothing: every piece comes from the system, as if there were no pool. */
  public static MemoryPool unpooled() {
    return new MemoryPool(false, false);
  }

  /** A pool whose pieces are full of NaN: whoever reads what he hasn't written shows it. */
  public static MemoryPool poisoned() {
    return new MemoryPool(true, true);
  }

  /**
   * Takes a piece whose contents are undefined.
   *
   * @throws OutOfMemoryError if the system has no more
   */
  public Piece take(long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("a piece can't have " + bytes + " bytes");
    }
    Piece piece = new Piece(block(sizeClass(bytes), bytes), bytes);
    if (poison) {
      // All ones are NaN in float32, float16 and bfloat16.
      piece.block.memory().fill((byte) 0xFF);
    }
    return piece;
  }

  /** Takes a piece of zeros. */
  public Piece takeCleared(long bytes) {
    Piece piece = take(bytes);
    piece.memory().fill((byte) 0);
    return piece;
  }

  /** The next of four sizes to each power of two. */
  static long sizeClass(long bytes) {
    if (bytes <= SMALLEST) {
      return SMALLEST;
    }
    long step = Math.max(Long.highestOneBit(bytes - 1) / 4, Rows.ALIGNMENT);
    return Math.addExact(bytes, step - 1) / step * step;
  }

  private synchronized Block block(long size, long bytes) {
    if (closed) {
      throw new IllegalStateException("the memory pool is closed");
    }
    Deque<Block> blocks = free.get(size);
    Block block = blocks == null ? null : blocks.poll();
    if (block != null) {
      reuses++;
    } else {
      Arena arena = Arena.ofShared();
      try {
        block = new Block(arena, SystemMemory.allocate(arena, size));
      } catch (OutOfMemoryError e) {
        arena.close();
        throw e;
      }
      allocations++;
      held += size;
      peak = Math.max(peak, held);
    }
    used += size;
    asked += bytes;
    return block;
  }

  private synchronized void giveBack(Piece piece) {
    if (piece.given) {
      return;
    }
    piece.given = true;
    long size = piece.block.memory().byteSize();
    used -= size;
    asked -= piece.bytes;
    if (closed || !reuse) {
      held -= size;
      piece.block.arena().close();
    } else {
      free.computeIfAbsent(size, _ -> new ArrayDeque<>()).push(piece.block);
    }
  }

  public synchronized Statistics statistics() {
    return new Statistics(
        allocations, reuses, held, peak, used, used == 0 ? 0 : 1 - (double) asked / used);
  }

  /** Frees what is not in use; pieces that are out are freed when they come back. */
  @Override
  public synchronized void close() {
    closed = true;
    for (Deque<Block> blocks : free.values()) {
      for (Block block : blocks) {
        held -= block.memory().byteSize();
        block.arena().close();
      }
    }
    free.clear();
  }
}

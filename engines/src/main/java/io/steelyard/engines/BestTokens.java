package io.steelyard.engines;

import io.steelyard.lab.worker.EngineException;
import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32;

/** The checksum of a forward pass: over the most likely token of each position. */
public final class BestTokens {
  private final CRC32 checksum = new CRC32();
  private long nanos;

  /** Takes the next position's logits, float32. */
  public void add(MemorySegment logits) throws EngineException {
    long start = System.nanoTime();
    int id = TokenLoop.best(logits);
    for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
      checksum.update(id >>> shift);
    }
    nanos += System.nanoTime() - start;
  }

  /** CRC-32 over the ids, each as four bytes, lowest first. */
  public long checksum() {
    return checksum.getValue();
  }

  /** Time that {@link #add} has taken, which is none of the engine's. */
  public long nanos() {
    return nanos;
  }
}

package io.steelyard.kernels;

import io.steelyard.kernels.machine.MachineCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** A {@link AttentionBand} for each thread of a team, in one tier. */
public final class AttentionBands implements AutoCloseable {
  private final List<AttentionBand> bands = new ArrayList<>();

  /**
   * Makes them.
   *
   * @param type of queries, keys and values
   * @param dimension values of a query, a key and a value
   * @param keysAtOnce how many keys' scores are in memory at a time, rounded up to a multiple of
   *     {@link AttentionBand#PIECE}; 0 for what the tier's caches hold
   * @throws UnsupportedOperationException if this JVM can't run the tier; the message says why
   */
  public AttentionBands(Tier tier, int threads, DataType type, int dimension, int keysAtOnce) {
    int keys = Math.ceilDiv(keysAtOnce, AttentionBand.PIECE) * AttentionBand.PIECE;
    Supplier<AttentionBand> make =
        switch (tier) {
          case REFERENCE -> () -> new ReferenceBand(dimension);
          case VECTOR -> {
            VectorTier.require();
            yield () -> new VectorBand(dimension, keys);
          }
          case AVX2, AVX512, AMX -> {
            MachineCode code = MachineTier.forBands(tier);
            boolean inTiles = code.tiles().isPresent() && type != DataType.F32;
            yield inTiles
                ? () -> new TileBand(code, dimension, keys)
                : () -> new MachineBand(code, dimension, keys);
          }
        };
    for (int i = 0; i < threads; i++) {
      bands.add(make.get());
    }
  }

  /** A thread's. */
  public AttentionBand of(int member) {
    return bands.get(member);
  }

  /** {@link AttentionBand#scores} of all. */
  public long scores() {
    return bands.stream().mapToLong(AttentionBand::scores).sum();
  }

  /** {@link AttentionBand#scratchBytes} of all. */
  public long scratchBytes() {
    return bands.stream().mapToLong(AttentionBand::scratchBytes).sum();
  }

  @Override
  public void close() {
    bands.forEach(AttentionBand::close);
  }
}

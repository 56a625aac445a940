package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A kind of attention that ranks compute together, each from its own positions. */
public interface RankVariant {
  /**
   * A variant over ranks.
   *
   * @param spelling as {@link Variants#of} takes it
   * @throws IllegalArgumentException if it is none that ranks compute, or not from such shards
   */
  static RankVariant of(String spelling, RingShards shards) {
    return switch (Variants.of(spelling)) {
      case Ring _ -> new RingRanks(shards);
      case RingDilated dilated -> new DilatedRanks(dilated.branches(), dilated.version(), shards);
      default ->
          throw new IllegalArgumentException(
              "attention %s isn't computed by ranks; ring, ring-dilated-v2 and ring-dilated-v3 are"
                  .formatted(spelling));
    };
  }

  /** Bytes of what travels of a rank's keys and values. */
  long blockBytes(int rank, DataType type);

  /**
   * What a rank holds of the inputs that {@link RandomInputs} makes of a seed.
   *
   * @param own of {@link #blockBytes} bytes, which travel
   */
  AttentionInputs inputs(Arena arena, DataType type, int rank, long seed, MemorySegment own);

  /**
   * Begins a pass.
   *
   * @param own holds what is to travel from then on
   */
  RankPass begin(int rank, AttentionInputs inputs, MemorySegment own, Workbench workbench);
}

package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Exact attention: all keys and values travel. */
record RingRanks(RingShards shards) implements RankVariant {
  @Override
  public long blockBytes(int rank, DataType type) {
    return 2 * type.bytes(shards.shape(rank).keyValues());
  }

  @Override
  public AttentionInputs inputs(
      Arena arena, DataType type, int rank, long seed, MemorySegment own) {
    return shards.inputs(arena, type, rank, seed, own);
  }

  @Override
  public RankPass begin(int rank, AttentionInputs inputs, MemorySegment own, Workbench workbench) {
    return new RingRank(shards, rank, inputs, workbench);
  }
}

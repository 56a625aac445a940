package io.steelyard.kernels.attention;

import io.steelyard.kernels.StridedRows;
import io.steelyard.kernels.attention.Ring.Chunk;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * What one rank of a ring computes in a pass: its queries meet block after block of keys and
 * values, its own first, and what they get from each is merged as in flash. Blocks of which none of
 * its queries sees anything are neither packed nor computed.
 *
 * <p>Source: Liu, Zaharia and Abbeel, "Ring Attention with Blockwise Transformers" (2023).
 */
final class RingRank implements RankPass {
  private final RingShards shards;
  private final int rank;
  private final AttentionInputs inputs;
  private final AttentionShape own;
  private final Workbench workbench;
  private final List<Merge> wholes = new ArrayList<>();
  private final List<Merge> parts = new ArrayList<>();
  private boolean fresh = true;

  /**
   * A pass that begins.
   *
   * @param inputs of {@link RingShards#inputs}
   */
  RingRank(RingShards shards, int rank, AttentionInputs inputs, Workbench workbench) {
    this.shards = shards;
    this.rank = rank;
    this.inputs = inputs;
    this.workbench = workbench;
    own = inputs.shape();
    for (int i = 0; i < own.batch() * own.heads(); i++) {
      wholes.add(new Merge(own.dimension(), own.length(), workbench));
    }
    for (int i = 0; i < (shards.ranks() == 1 ? 0 : own.group()); i++) {
      parts.add(new Merge(own.dimension(), own.length(), workbench));
    }
  }

  /** Of a block that holds the keys and then the values as [batch][positions][heads][dimension]. */
  @Override
  public boolean meet(int source, MemorySegment block) {
    AttentionShape theirs = shards.shape(source);
    long half = inputs.type().bytes(theirs.keyValues());
    AttentionInputs.require("a block", block, 2 * half);
    boolean seen = false;
    for (int batch = 0; batch < own.batch(); batch++) {
      for (int kvHead = 0; kvHead < own.kvHeads(); kvHead++) {
        seen |= meet(source, theirs, block.asSlice(0, half), block.asSlice(half), batch, kvHead);
      }
    }
    fresh = false;
    return seen;
  }

  private boolean meet(
      int source,
      AttentionShape theirs,
      MemorySegment keys,
      MemorySegment values,
      int batch,
      int kvHead) {
    List<Merge> targets = wholes.subList(index(batch, kvHead), index(batch, kvHead) + own.group());
    List<Merge> step = fresh ? targets : parts;
    List<Strip.Part> seeing = new ArrayList<>();
    int most = seeing(source, batch, kvHead, step, seeing);
    if (most == 0) {
      return false;
    }
    step.forEach(part -> part.forget(0, own.length()));
    workbench.attend(
        own.dimension(),
        own.scale(),
        List.of(
            new Strip(
                theirs.rows(keys, inputs.type(), batch, kvHead, own.kvHeads()),
                theirs.rows(values, inputs.type(), batch, kvHead, own.kvHeads()),
                most,
                seeing)));
    if (!fresh) {
      for (int i = 0; i < parts.size(); i++) {
        targets.get(i).add(parts.get(i));
      }
    }
    return true;
  }

  private int index(int batch, int kvHead) {
    return batch * own.heads() + kvHead * own.group();
  }

  /** Names the queries that see something of a block; gives how many of its keys they see. */
  private int seeing(
      int source, int batch, int kvHead, List<Merge> results, List<Strip.Part> seeing) {
    int most = 0;
    int row = 0;
    for (Chunk queries : shards.chunks(rank)) {
      Sight sight = shards.sight(queries, shards.chunks(source));
      int end = sight.end(queries.count() - 1);
      for (int i = 0; end > 0 && i < own.group(); i++) {
        StridedRows asked = inputs.queries(batch, kvHead * own.group() + i);
        seeing.add(
            new Strip.Part(
                asked.from(row),
                queries.count(),
                results.get(i).rows().from(row),
                results.get(i).sums() + (long) Float.BYTES * row,
                Float.BYTES,
                sight));
      }
      most = Math.max(most, end);
      row += queries.count();
    }
    return most;
  }

  @Override
  public void finish(AttentionOutputs outputs) {
    for (int batch = 0; batch < own.batch(); batch++) {
      for (int head = 0; head < own.heads(); head++) {
        wholes.get(batch * own.heads() + head).write(outputs, batch, head);
      }
    }
  }

  @Override
  public void close() {
    wholes.forEach(Merge::close);
    parts.forEach(Merge::close);
  }
}

package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Rows;
import io.steelyard.kernels.StridedRows;
import io.steelyard.kernels.attention.DilatedPlan.HeadRun;
import io.steelyard.kernels.machine.SystemMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Dilated attention over ranks: of each rank's keys and values those travel that a head's pattern
 * takes, gathered. Version 2 makes its patterns in every pass and merges in every step; version 3
 * takes them from the cache, and merges only where something was seen.
 */
record DilatedRanks(Branches branches, int version, RingShards shards) implements RankVariant {
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  DilatedRanks {
    if (shards.zigzag()) {
      throw new IllegalArgumentException(
          "dilated attention over ranks takes contiguous shards: a segment lies in one piece");
    }
  }

  @Override
  public long blockBytes(int rank, DataType type) {
    PatternCache none = new PatternCache(0);
    long rows = 0;
    for (HeadRun run : runs()) {
      int[] positions = positions(run, none);
      rows += begin(positions, rank + 1) - begin(positions, rank);
    }
    return 2 * rows * shards.shape().batch() * type.bytes(shards.shape().dimension());
  }

  private List<HeadRun> runs() {
    return DilatedPlan.headRuns(shards.shape(), branches);
  }

  private int[] positions(HeadRun run, PatternCache cache) {
    return DilatedPositions.of(shards.shape().length(), run.branch(), run.offset(), cache);
  }

  /** The first position of a rank. */
  private int first(int rank) {
    return rank == shards.ranks() ? shards.shape().length() : shards.chunks(rank).getFirst().from();
  }

  /** The first of a pattern's positions that a rank holds, as an index. */
  private int begin(int[] positions, int rank) {
    return DilatedPositions.index(positions, first(rank));
  }

  @Override
  public AttentionInputs inputs(
      Arena arena, DataType type, int rank, long seed, MemorySegment own) {
    long all = 2 * type.bytes(shards.shape(rank).keyValues());
    return shards.inputs(arena, type, rank, seed, SystemMemory.zeros(arena, all, Rows.ALIGNMENT));
  }

  @Override
  public RankPass begin(int rank, AttentionInputs inputs, MemorySegment own, Workbench workbench) {
    return new Pass(rank, inputs, own, workbench);
  }

  /** A pass of a rank. */
  private final class Pass implements RankPass {
    private final int rank;
    private final AttentionInputs inputs;
    private final Workbench workbench;
    private final List<Pattern> patterns = new ArrayList<>();

    Pass(int rank, AttentionInputs inputs, MemorySegment own, Workbench workbench) {
      this.rank = rank;
      this.inputs = inputs;
      this.workbench = workbench;
      PatternCache cache = version == 3 ? workbench.patterns() : new PatternCache(0);
      long at = own.address();
      for (int batch = 0; batch < inputs.shape().batch(); batch++) {
        for (HeadRun run : runs()) {
          Pattern pattern = new Pattern(batch, run, positions(run, cache));
          at = pattern.gather(at);
          patterns.add(pattern);
        }
      }
    }

    @Override
    public boolean meet(int source, MemorySegment block) {
      boolean seen = false;
      long at = block.address();
      for (Pattern pattern : patterns) {
        long bytes = pattern.bytes(source);
        seen |= pattern.meet(source, at, at + bytes);
        at += 2 * bytes;
      }
      return seen;
    }

    @Override
    public void finish(AttentionOutputs outputs) {
      patterns.forEach(pattern -> pattern.finish(outputs));
    }

    @Override
    public void close() {
      patterns.forEach(Pattern::close);
    }

    /** Heads with one pattern, of one sequence. */
    private final class Pattern implements AutoCloseable {
      private final int batch;
      private final HeadRun heads;
      private final int[] positions;

      /** The rank's own, counted from its first. */
      private final int[] own;

      private final List<Gathered> queries = new ArrayList<>();
      private final List<Merge> wholes = new ArrayList<>();
      private final List<Merge> parts = new ArrayList<>();

      Pattern(int batch, HeadRun heads, int[] positions) {
        this.batch = batch;
        this.heads = heads;
        this.positions = positions;
        own =
            Arrays.stream(positions, begin(positions, rank), begin(positions, rank + 1))
                .map(position -> position - first(rank))
                .toArray();
        for (int head = heads.firstHead(); head < heads.endHead(); head++) {
          queries.add(gathered(inputs.queries(batch, head)));
          wholes.add(new Merge(dimension(), own.length, workbench));
          parts.add(new Merge(dimension(), own.length, workbench));
        }
      }

      private int dimension() {
        return inputs.shape().dimension();
      }

      private Gathered gathered(StridedRows rows) {
        return Gathered.of(rows, dimension(), own, workbench);
      }

      /** Bytes of a rank's keys in the pattern. */
      long bytes(int of) {
        return (begin(positions, of + 1) - begin(positions, of)) * rowBytes();
      }

      private long rowBytes() {
        return inputs.type().bytes(dimension());
      }

      /** Copies the rank's keys and values of the pattern; gives where the next ones go. */
      long gather(long to) {
        copy(inputs.keys(batch, heads.kvHead()), to);
        copy(inputs.values(batch, heads.kvHead()), to + bytes(rank));
        return to + 2 * bytes(rank);
      }

      private void copy(StridedRows rows, long to) {
        for (int i = 0; i < own.length; i++) {
          MemorySegment.copy(ALL, rows.row(own[i]), ALL, to + i * rowBytes(), rowBytes());
        }
        workbench.moved(2 * rowBytes() * own.length);
      }

      boolean meet(int source, long keys, long values) {
        List<Strip> strips = strips(source, rows(keys), rows(values));
        if (version == 3 && strips.isEmpty()) {
          return false;
        }
        parts.forEach(part -> part.forget(0, own.length));
        workbench.attend(dimension(), inputs.shape().scale(), strips);
        for (int i = 0; i < wholes.size(); i++) {
          wholes.get(i).add(parts.get(i));
        }
        return !strips.isEmpty();
      }

      private StridedRows rows(long address) {
        return new StridedRows(address, rowBytes(), inputs.type());
      }

      /** The segments that have positions of both ranks. */
      private List<Strip> strips(int source, StridedRows keys, StridedRows values) {
        List<Strip> strips = new ArrayList<>();
        int firstQuery = begin(positions, rank);
        int firstKey = begin(positions, source);
        int endKey = begin(positions, source + 1);
        for (int query = firstQuery; query < firstQuery + own.length; ) {
          long begin =
              positions[query] / heads.branch().segment() * (long) heads.branch().segment();
          int key = Math.max(firstKey, DilatedPositions.index(positions, begin));
          int end = DilatedPositions.index(positions, begin + heads.branch().segment());
          int queryEnd = Math.min(end, firstQuery + own.length);
          int count = Math.min(end, endKey) - key;
          boolean causal = inputs.shape().causal();
          if (count > 0 && (!causal || key < queryEnd)) {
            strips.add(
                new Strip(
                    keys.from(key - firstKey),
                    values.from(key - firstKey),
                    count,
                    parts(
                        query - firstQuery,
                        queryEnd - query,
                        causal ? Sight.upTo(count, query - key) : Sight.all(count))));
          }
          query = queryEnd;
        }
        return strips;
      }

      private List<Strip.Part> parts(int query, int rows, Sight sight) {
        List<Strip.Part> ofHeads = new ArrayList<>();
        for (int i = 0; i < queries.size(); i++) {
          ofHeads.add(
              new Strip.Part(
                  queries.get(i).rows().from(query),
                  rows,
                  parts.get(i).rows().from(query),
                  parts.get(i).sums() + (long) Float.BYTES * query,
                  Float.BYTES,
                  sight));
        }
        return ofHeads;
      }

      void finish(AttentionOutputs outputs) {
        for (int i = 0; i < wholes.size(); i++) {
          int head = heads.firstHead() + i;
          int next = 0;
          for (int position = 0; position < inputs.shape().length(); position++) {
            if (next < own.length && own[next] == position) {
              next++;
            } else {
              outputs.clear(batch, head, position);
            }
          }
          workbench.moved((inputs.shape().length() - next) * outputs.rowBytes());
          wholes.get(i).scatter(outputs, batch, head, own);
        }
      }

      @Override
      public void close() {
        queries.forEach(Gathered::close);
        wholes.forEach(Merge::close);
        parts.forEach(Merge::close);
      }
    }
  }
}

package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.StridedRows;
import java.util.ArrayList;
import java.util.List;

/**
 * Dilated attention with the length split over ranks, all in one process: each rank gathers the
 * positions of a head's pattern that it holds, and their keys and values travel as in {@link Ring}.
 *
 * <p>Version 2 makes its patterns every time and merges in every step. Version 3 takes them from
 * the cache, and merges only where something was seen: a rank whose segments end with it has
 * nothing to get from others.
 */
record RingDilated(Branches branches, int ranks, int version) implements Variant {
  static Variant v2(Parameters parameters) {
    return of(parameters, 2);
  }

  static Variant v3(Parameters parameters) {
    return of(parameters, 3);
  }

  private static Variant of(Parameters parameters, int version) {
    return new RingDilated(
        Branches.of(parameters), parameters.whole("ranks", 4, 1, Ring.MOST_RANKS), version);
  }

  @Override
  public Estimate estimate(AttentionShape shape, DataType type, int threads) {
    Estimate strided = branches.estimate(shape, threads);
    return new Estimate(
        strided.scores(),
        strided.scratchBytes()
            + branches.gathered(shape, type)
            + shape.group() * Estimate.merges(shape.length(), shape.dimension()));
  }

  @Override
  public Plan plan(AttentionInputs inputs, Workbench workbench) {
    return new DilatedPlan(inputs, branches) {
      @Override
      public void run(AttentionOutputs outputs) {
        clear(outputs, workbench);
        for (int batch = 0; batch < inputs.shape().batch(); batch++) {
          for (HeadRun heads : headRuns()) {
            try (Travel travel = new Travel(inputs, workbench, batch, heads)) {
              travel.run(outputs);
            }
          }
        }
      }
    };
  }

  /** Heads with one pattern, of one sequence, in copies of what the pattern takes. */
  private final class Travel implements AutoCloseable {
    private final AttentionShape shape;
    private final Workbench workbench;
    private final int batch;
    private final DilatedPlan.HeadRun heads;
    private final int[] positions;
    private final Gathered keys;
    private final Gathered values;
    private final List<Gathered> queries = new ArrayList<>();
    private final List<Merge> wholes = new ArrayList<>();
    private final List<Merge> parts = new ArrayList<>();

    Travel(AttentionInputs inputs, Workbench workbench, int batch, DilatedPlan.HeadRun heads) {
      this.workbench = workbench;
      this.batch = batch;
      this.heads = heads;
      shape = inputs.shape();
      positions =
          DilatedPositions.of(
              shape.length(),
              heads.branch(),
              heads.offset(),
              version == 3 ? workbench.patterns() : new PatternCache(0));
      keys = gathered(inputs.keys(batch, heads.kvHead()));
      values = gathered(inputs.values(batch, heads.kvHead()));
      for (int head = heads.firstHead(); head < heads.endHead(); head++) {
        queries.add(gathered(inputs.queries(batch, head)));
        wholes.add(new Merge(shape.dimension(), positions.length, workbench));
        parts.add(new Merge(shape.dimension(), positions.length, workbench));
      }
    }

    private Gathered gathered(StridedRows rows) {
      Gathered room = Gathered.room(rows, shape.dimension(), positions.length, workbench.pool());
      workbench.parallel(
          ranks,
          (rank, _) ->
              room.gather(
                  rows, shape.dimension(), positions, begin(rank), begin(rank + 1), workbench));
      return room;
    }

    /** The first of the pattern's positions that a rank holds, as an index. */
    private int begin(int rank) {
      return DilatedPositions.index(positions, (long) shape.length() * rank / ranks);
    }

    void run(AttentionOutputs outputs) {
      for (int step = 0; step < ranks; step++) {
        List<Strip> strips = strips(step);
        if (version == 3 && strips.isEmpty()) {
          continue;
        }
        parts.forEach(part -> part.forget(0, positions.length));
        workbench.attend(shape.dimension(), shape.scale(), strips);
        for (int i = 0; i < wholes.size(); i++) {
          wholes.get(i).add(parts.get(i));
        }
      }
      for (int i = 0; i < wholes.size(); i++) {
        wholes.get(i).scatter(outputs, batch, heads.firstHead() + i, positions);
      }
    }

    private List<Strip> strips(int step) {
      List<Strip> strips = new ArrayList<>();
      for (int from = 0; from < positions.length; ) {
        int segment = heads.branch().segment();
        int to = DilatedPositions.index(positions, (positions[from] / segment + 1L) * segment);
        for (int rank = 0; rank < ranks; rank++) {
          int source = Math.floorMod(rank - step, ranks);
          add(
              strips,
              Math.max(from, begin(rank)),
              Math.min(to, begin(rank + 1)),
              Math.max(from, begin(source)),
              Math.min(to, begin(source + 1)));
        }
        from = to;
      }
      return strips;
    }

    private void add(List<Strip> strips, int query, int queryEnd, int key, int keyEnd) {
      if (query >= queryEnd || key >= keyEnd || (shape.causal() && key >= queryEnd)) {
        return;
      }
      int count = keyEnd - key;
      Sight sight = shape.causal() ? Sight.upTo(count, query - key) : Sight.all(count);
      List<Strip.Part> ofHeads = new ArrayList<>();
      for (int i = 0; i < queries.size(); i++) {
        Merge part = parts.get(i);
        ofHeads.add(
            new Strip.Part(
                queries.get(i).rows().from(query),
                queryEnd - query,
                part.rows().from(query),
                part.sums() + (long) Float.BYTES * query,
                Float.BYTES,
                sight));
      }
      strips.add(new Strip(keys.rows().from(key), values.rows().from(key), count, ofHeads));
    }

    @Override
    public void close() {
      keys.close();
      values.close();
      queries.forEach(Gathered::close);
      wholes.forEach(Merge::close);
      parts.forEach(Merge::close);
    }
  }
}

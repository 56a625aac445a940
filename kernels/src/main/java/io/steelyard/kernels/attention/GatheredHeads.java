package io.steelyard.kernels.attention;

import io.steelyard.kernels.attention.DilatedPlan.HeadRun;
import java.util.ArrayList;
import java.util.List;

/** Dilated attention over copies that lie together: of one sequence, all heads. */
final class GatheredHeads implements AutoCloseable {
  private final AttentionShape shape;
  private final Workbench workbench;
  private final int batch;
  private final List<Copies> copies;

  /** The copies of heads that attend to the same keys. */
  private record Copies(
      HeadRun run,
      int[] positions,
      Gathered keys,
      Gathered values,
      List<Gathered> queries,
      List<Gathered> results,
      List<MemoryPool.Piece> sums) {}

  GatheredHeads(DilatedPlan plan, Workbench workbench, int batch) {
    this.workbench = workbench;
    this.batch = batch;
    shape = plan.inputs().shape();
    List<HeadRun> runs = plan.headRuns();
    Copies[] gathered = new Copies[runs.size()];
    workbench.parallel(
        gathered.length, (index, _) -> gathered[index] = gather(plan.inputs(), runs.get(index)));
    copies = List.of(gathered);
  }

  private Copies gather(AttentionInputs inputs, HeadRun run) {
    int dimension = shape.dimension();
    int[] positions =
        DilatedPositions.of(shape.length(), run.branch(), run.offset(), workbench.patterns());
    List<Gathered> queries = new ArrayList<>();
    List<Gathered> results = new ArrayList<>();
    List<MemoryPool.Piece> sums = new ArrayList<>();
    for (int head = run.firstHead(); head < run.endHead(); head++) {
      queries.add(Gathered.of(inputs.queries(batch, head), dimension, positions, workbench));
      results.add(
          Gathered.room(
              inputs.queries(batch, head), dimension, positions.length, workbench.pool()));
      sums.add(workbench.pool().take((long) Float.BYTES * positions.length));
    }
    return new Copies(
        run,
        positions,
        Gathered.of(inputs.keys(batch, run.kvHead()), dimension, positions, workbench),
        Gathered.of(inputs.values(batch, run.kvHead()), dimension, positions, workbench),
        queries,
        results,
        sums);
  }

  void run(AttentionOutputs outputs) {
    List<Strip> strips = new ArrayList<>();
    for (Copies of : copies) {
      for (int from = 0; from < of.positions().length; ) {
        int segment = of.run().branch().segment();
        long end = (of.positions()[from] / segment + 1L) * segment;
        int to = DilatedPositions.index(of.positions(), end);
        strips.add(strip(of, from, to - from));
        from = to;
      }
    }
    workbench.attend(shape.dimension(), shape.scale(), strips);
    workbench.parallel(copies.size(), (index, _) -> scatter(copies.get(index), outputs));
  }

  private Strip strip(Copies of, int from, int count) {
    Sight sight = Sight.of(count, shape.causal());
    List<Strip.Part> parts = new ArrayList<>();
    for (int i = 0; i < of.queries().size(); i++) {
      parts.add(
          new Strip.Part(
              of.queries().get(i).rows().from(from),
              count,
              of.results().get(i).rows().from(from),
              of.sums().get(i).address() + (long) Float.BYTES * from,
              Float.BYTES,
              sight));
    }
    return new Strip(of.keys().rows().from(from), of.values().rows().from(from), count, parts);
  }

  private void scatter(Copies of, AttentionOutputs outputs) {
    for (int i = 0; i < of.results().size(); i++) {
      int head = of.run().firstHead() + i;
      of.results()
          .get(i)
          .scatter(outputs.rows(batch, head), shape.dimension(), of.positions(), workbench);
      Gathered.scatterSums(
          of.sums().get(i).address(), outputs.logSums(batch, head), of.positions());
    }
  }

  @Override
  public void close() {
    for (Copies of : copies) {
      of.keys().close();
      of.values().close();
      of.queries().forEach(Gathered::close);
      of.results().forEach(Gathered::close);
      of.sums().forEach(MemoryPool.Piece::close);
    }
  }
}

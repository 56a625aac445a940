package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import java.util.ArrayList;
import java.util.List;

/**
 * Exact attention with the length split over ranks, here all in one process: in step s, rank r
 * holds the keys and values of rank {@code (r - s) mod R}, and merges what its queries get from
 * them. Where attention is causal, ranks hold two chunks each, r and {@code 2R - 1 - r}, so that
 * all have as much to do, and chunks of which nothing is seen are left out.
 *
 * <p>Source: Liu, Zaharia and Abbeel, "Ring Attention with Blockwise Transformers" (2023); the
 * zigzag order: Zhu, "ring-flash-attention" (2024).
 */
record Ring(int ranks) implements Variant {
  static final int MOST_RANKS = 4096;

  static Variant of(Parameters parameters) {
    return new Ring(parameters.whole("ranks", 4, 1, MOST_RANKS));
  }

  /** A run of consecutive positions. */
  record Chunk(int from, int to) {
    int count() {
      return to - from;
    }
  }

  /** The chunks of a rank, some of them empty where there are more ranks than positions. */
  static List<Chunk> chunks(int rank, int ranks, int length, boolean zigzag) {
    int all = zigzag ? 2 * ranks : ranks;
    List<Chunk> chunks = new ArrayList<>();
    chunks.add(chunk(rank, all, length));
    if (zigzag) {
      chunks.add(chunk(all - 1 - rank, all, length));
    }
    return chunks;
  }

  private static Chunk chunk(int index, int chunks, int length) {
    return new Chunk(
        (int) ((long) length * index / chunks), (int) ((long) length * (index + 1) / chunks));
  }

  @Override
  public Estimate estimate(AttentionShape shape, DataType type, int threads) {
    return new Estimate(
        shape.scores(),
        Estimate.panels(Math.ceilDiv(shape.length(), ranks), shape.dimension(), threads)
            + shape.group() * Estimate.merges(shape.length(), shape.dimension()));
  }

  @Override
  public Plan plan(AttentionInputs inputs, Workbench workbench) {
    AttentionShape shape = inputs.shape();
    return new Plan() {
      @Override
      public void run(AttentionOutputs outputs) {
        for (int batch = 0; batch < shape.batch(); batch++) {
          for (int kvHead = 0; kvHead < shape.kvHeads(); kvHead++) {
            ring(outputs, batch, kvHead);
          }
        }
      }

      private void ring(AttentionOutputs outputs, int batch, int kvHead) {
        int firstHead = kvHead * shape.group();
        try (HeadMerges heads = new HeadMerges(shape, workbench)) {
          for (int step = 0; step < ranks; step++) {
            // Two chunks of keys would write the same rows: one after the other.
            for (int chunk = 0; chunk < (shape.causal() ? 2 : 1); chunk++) {
              heads.forget();
              workbench.attend(
                  shape.dimension(), shape.scale(), strips(heads, batch, kvHead, step, chunk));
              heads.merge();
            }
          }
          heads.write(outputs, batch, firstHead);
        }
      }

      private List<Strip> strips(HeadMerges heads, int batch, int kvHead, int step, int chunk) {
        List<Strip> strips = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
          int source = Math.floorMod(rank - step, ranks);
          Chunk keys = chunks(source, ranks, shape.length(), shape.causal()).get(chunk);
          List<Strip.Part> parts = new ArrayList<>();
          for (Chunk queries : chunks(rank, ranks, shape.length(), shape.causal())) {
            Sight sight = sight(queries, keys);
            if (queries.count() > 0 && sight.end(queries.count() - 1) > 0) {
              for (int i = 0; i < shape.group(); i++) {
                parts.add(
                    heads.part(
                        i,
                        inputs.queries(batch, kvHead * shape.group() + i),
                        queries.from(),
                        queries.count(),
                        sight));
              }
            }
          }
          if (keys.count() > 0 && !parts.isEmpty()) {
            strips.add(
                new Strip(
                    inputs.keys(batch, kvHead).from(keys.from()),
                    inputs.values(batch, kvHead).from(keys.from()),
                    keys.count(),
                    parts));
          }
        }
        return strips;
      }

      private Sight sight(Chunk queries, Chunk keys) {
        return shape.causal()
            ? Sight.upTo(keys.count(), queries.from() - keys.from())
            : Sight.all(keys.count());
      }

      @Override
      public int times(int batch, int head, int query, int key) {
        return shape.causal() && key > query ? 0 : 1;
      }
    };
  }
}

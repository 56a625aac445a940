package io.steelyard.kernels.attention;

import io.steelyard.kernels.AttentionBand;
import io.steelyard.kernels.AttentionBands;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.StridedRows;
import io.steelyard.kernels.ThreadTeam;
import io.steelyard.kernels.Tier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * What variants of attention work with: threads, the arithmetic of a tier, scratch memory and a
 * cache of patterns; and the count of what they did. For one caller at a time.
 */
public final class Workbench implements AutoCloseable {
  /** Pieces of keys that a thread packs at a time where all work on one strip. */
  private static final int PIECES_AT_ONCE = 8;

  private final Tier tier;
  private final ThreadTeam team;
  private final MemoryPool pool;
  private final PatternCache patterns;
  private final Map<BandKind, AttentionBands> bands = new HashMap<>();
  private final int[][] first;
  private final int[][] end;
  private final LongAdder moved = new LongAdder();
  private final LongAdder scored = new LongAdder();
  private final AtomicLong held = new AtomicLong();

  private record BandKind(DataType type, int dimension, int keysAtOnce) {}

  /**
   * A workbench.
   *
   * @param pool closed with it
   * @throws UnsupportedOperationException if this JVM can't run the tier; the message says why
   */
  public Workbench(Tier tier, int threads, MemoryPool pool, PatternCache patterns) {
    this.tier = tier;
    this.pool = pool;
    this.patterns = patterns;
    // Says at once whether the tier can run.
    new AttentionBands(tier, 1, DataType.F32, 1, 0).close();
    team = new ThreadTeam(threads);
    first = new int[threads][AttentionBand.ROWS];
    end = new int[threads][AttentionBand.ROWS];
  }

  public Tier tier() {
    return tier;
  }

  public int threads() {
    return team.threads();
  }

  public MemoryPool pool() {
    return pool;
  }

  public PatternCache patterns() {
    return patterns;
  }

  /** What has been done since the workbench was made. */
  public Counts counts() {
    long scores = scored.sum() + bands.values().stream().mapToLong(AttentionBands::scores).sum();
    long scratch = bands.values().stream().mapToLong(AttentionBands::scratchBytes).sum();
    return new Counts(
        scores, scored.sum(), moved.sum(), pool.statistics().peakBytes() + scratch + held.get());
  }

  /** Counts bytes that a variant reads or writes by itself. */
  void moved(long bytes) {
    moved.add(bytes);
  }

  /**
   * Counts scores that a variant computes to choose what is seen, with what is read for each of
   * them.
   *
   * @param valueBytes of one of the values that queries are multiplied with
   */
  void scored(long scores, int dimension, int valueBytes) {
    scored.add(scores);
    moved(scores * dimension * valueBytes);
  }

  /** Counts what a plan holds in Java's heap: masks, and what they are chosen by. */
  void holds(long bytes) {
    held.accumulateAndGet(bytes, Math::max);
  }

  /** Work that is cut into parts which any thread may do. */
  @FunctionalInterface
  interface Part {
    void run(int index, int member);
  }

  /** Runs parts of work, those of lower numbers first. */
  void parallel(int parts, Part work) {
    if (parts == 1) {
      work.run(0, 0);
      return;
    }
    AtomicInteger next = new AtomicInteger();
    team.run(
        (member, _) -> {
          for (int i = next.getAndIncrement(); i < parts; i = next.getAndIncrement()) {
            work.run(i, member);
          }
        });
  }

  /** Attends. */
  void attend(int dimension, float scale, List<Strip> strips) {
    attend(dimension, scale, strips, 0);
  }

  /**
   * Attends.
   *
   * @param keysAtOnce keys whose scores a band has in memory at a time; 0 for what caches hold
   */
  void attend(int dimension, float scale, List<Strip> strips, int keysAtOnce) {
    if (strips.isEmpty()) {
      return;
    }
    Pass pass =
        new Pass(scale, bands(strips.getFirst().keys().type(), dimension, keysAtOnce), dimension);
    long all = strips.stream().mapToLong(Strip::cost).sum();
    long largest = strips.stream().mapToLong(Strip::cost).max().orElseThrow();
    if (threads() > 1 && largest > all / (2L * threads())) {
      strips.forEach(pass::together);
    } else {
      pass.eachAlone(strips);
    }
  }

  private AttentionBands bands(DataType type, int dimension, int keysAtOnce) {
    return bands.computeIfAbsent(
        new BandKind(type, dimension, keysAtOnce),
        _ -> new AttentionBands(tier, threads(), type, dimension, keysAtOnce));
  }

  /** Queries of one part that form a band. */
  private record Band(Strip.Part part, int query, int rows) {}

  private static List<Band> cut(Strip strip) {
    List<Band> cut = new ArrayList<>();
    for (Strip.Part part : strip.parts()) {
      for (int query = 0; query < part.rows(); ) {
        int rows = Sight.bandRows(part.sight(), query, part.rows());
        cut.add(new Band(part, query, rows));
        query += rows;
      }
    }
    return cut;
  }

  /** One call of {@link #attend}. */
  private final class Pass {
    private final int dimension;
    private final float scale;
    private final AttentionBands bands;

    Pass(float scale, AttentionBands bands, int dimension) {
      this.dimension = dimension;
      this.scale = scale;
      this.bands = bands;
    }

    /** Every strip is one thread's. */
    void eachAlone(List<Strip> strips) {
      List<Strip> sorted = new ArrayList<>(strips);
      sorted.sort(Comparator.comparingLong(Strip::cost).reversed());
      long panelBytes =
          strips.stream().mapToLong(s -> bands.of(0).panelBytes(s.count())).max().orElseThrow();
      try (MemoryPool.Piece panels = pool.take(panelBytes * threads())) {
        parallel(
            sorted.size(),
            (index, member) -> {
              Strip strip = sorted.get(index);
              long own = panels.address() + member * panelBytes;
              pack(strip, 0, strip.count(), own, member);
              for (Band band : cut(strip)) {
                attend(strip, band, own, member);
              }
            });
      }
    }

    /** All threads work on one strip: first its keys, then its bands, the later ones first. */
    void together(Strip strip) {
      try (MemoryPool.Piece panels = pool.take(bands.of(0).panelBytes(strip.count()))) {
        int keys = PIECES_AT_ONCE * AttentionBand.PIECE;
        parallel(
            Math.ceilDiv(strip.count(), keys),
            (index, member) -> {
              int to = (int) Math.min((index + 1L) * keys, strip.count());
              pack(strip, index * keys, to, panels.address(), member);
            });
        List<Band> cut = cut(strip).reversed();
        parallel(
            cut.size(), (index, member) -> attend(strip, cut.get(index), panels.address(), member));
      }
    }

    private void pack(Strip strip, int from, int to, long panels, int member) {
      bands.of(member).pack(strip.keys(), strip.values(), from, to, panels, strip.count());
      moved((to - from) * 2L * (bytes(strip.keys().type()) + bytes(DataType.F32)));
    }

    private long bytes(DataType type) {
      return type.bytes(dimension);
    }

    private void attend(Strip strip, Band part, long panels, int member) {
      Sight sight = part.part().sight();
      int[] firstKeys = first[member];
      int[] endKeys = end[member];
      for (int row = 0; row < part.rows(); row++) {
        firstKeys[row] = sight.first(part.query() + row);
        endKeys[row] = sight.end(part.query() + row);
      }
      AttentionBand band = bands.of(member);
      StridedRows queries = part.part().queries().from(part.query());
      StridedRows out = part.part().out().from(part.query());
      band.begin(queries, part.rows(), scale);
      sight.runs(
          part.query(),
          part.rows(),
          (from, to, function) -> {
            band.meet(panels, strip.count(), from, to, firstKeys, endKeys, function);
            moved((to - from) * 2L * bytes(DataType.F32));
          });
      long sums = part.part().logSums();
      long stride = part.part().stride();
      band.finish(out, sums == 0 ? 0 : sums + stride * part.query(), stride);
      moved(part.rows() * (bytes(queries.type()) + bytes(out.type()) + Float.BYTES));
    }
  }

  @Override
  public void close() {
    bands.values().forEach(AttentionBands::close);
    team.close();
    pool.close();
  }
}

package io.steelyard.kernels;

import io.steelyard.kernels.amx.Amx;
import io.steelyard.kernels.amx.TilePeak;
import io.steelyard.kernels.avx2.Avx2;
import io.steelyard.kernels.avx2.Peak;
import io.steelyard.kernels.avx512.Avx512;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.SystemMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What this machine can do at best with so many threads: the limits that a speed is a share of.
 *
 * <p>Source: Williams, Waterman and Patterson, "Roofline" (2009).
 *
 * @param threads compute threads, all at work
 * @param readBytesPerSecond from memory, in order, far more than the caches hold
 * @param productsPerSecond multiply-and-add operations by the type that is multiplied; empty where
 *     Steelyard has no machine code for the processor
 */
public record Roofline(
    int threads, double readBytesPerSecond, Map<String, Double> productsPerSecond) {
  private static final String INT8_TILES = "int8 amx";
  private static final String BF16_TILES = "bf16 amx";
  private static final String HALVES = "f16";
  private static final long READ_BYTES = 1L << 29;
  private static final int READ_ROUNDS = 12;
  private static final long PEAK_TURNS = 800_000;
  private static final int PEAK_ROUNDS = 20;

  /** Measures; takes about two seconds. The best of several rounds counts: it is a limit. */
  public static Roofline measure(int threads) {
    try (ThreadTeam team = new ThreadTeam(threads)) {
      Map<String, Double> products = new LinkedHashMap<>();
      for (Peak peak : Peak.values()) {
        if (Avx2.available() && peak.runsIn(vectorBytes())) {
          products.put(
              peak.label(),
              peak(team, peak.function(vectorBytes()), peak.productsOfTurn(vectorBytes())));
        }
      }
      if (Amx.available()) {
        products.put(INT8_TILES, peak(team, TilePeak.TDPBUSD));
        products.put(BF16_TILES, peak(team, TilePeak.TDPBF16PS));
      }
      return new Roofline(threads, read(team), products);
    }
  }

  /** Bytes of the widest vectors in use here. */
  private static int vectorBytes() {
    return Avx512.available() ? 64 : 32;
  }

  /** What weights of a type are multiplied as at best, as {@link #bound} takes it. */
  public static String limit(DataType weights) {
    return switch (weights) {
      case BF16, FP8_E4M3, FP8_E5M2, NF4, FP4 -> Peak.VDPBF16PS.label();
      case F16 -> HALVES;
      default -> weights.blockSize() > 1 ? Peak.VPDPBUSD.label() : Peak.VFMADD231PS.label();
    };
  }

  /**
   * Which of {@link #productsPerSecond} bounds products.
   *
   * @param values see {@link #limit}
   * @param tiles whether AMX may be used
   */
  public String bound(String values, boolean tiles) {
    String inTiles =
        values.equals(Peak.VPDPBUSD.label())
            ? INT8_TILES
            : values.equals(Peak.VFMADD231PS.label()) ? values : BF16_TILES;
    if (tiles && productsPerSecond.containsKey(inTiles)) {
      return inTiles;
    }
    return productsPerSecond.containsKey(values) ? values : Peak.VFMADD231PS.label();
  }

  private static double peak(ThreadTeam team, TilePeak peak) {
    return peak(team, peak.function(), peak.productsOfTurn());
  }

  private static double peak(ThreadTeam team, Function function, long productsOfTurn) {
    double seconds =
        best(PEAK_ROUNDS, team, (member, members) -> function.call(PEAK_TURNS, 0, 0, 0));
    return PEAK_TURNS * productsOfTurn * team.threads() / seconds;
  }

  private static double read(ThreadTeam team) {
    long each = READ_BYTES / team.threads() / Peak.READ_STEP * Peak.READ_STEP;
    try (Arena arena = Arena.ofShared()) {
      long bytes = each * team.threads();
      MemorySegment memory;
      ThreadTeam.Task task;
      if (Avx2.available()) {
        // In large pages, of which reading is as fast as of a mapped model.
        memory = SystemMemory.allocate(arena, bytes);
        Function function = Peak.read(vectorBytes());
        task = (member, members) -> function.call(memory.address() + member * each, each, 0, 0);
      } else {
        memory = arena.allocate(bytes, Rows.ALIGNMENT);
        task = (member, members) -> readPlainly(memory.asSlice(member * each, each));
      }
      // Untouched pages would all be the one page of zeros.
      memory.fill((byte) 1);
      return each * team.threads() / best(READ_ROUNDS, team, task);
    }
  }

  private static void readPlainly(MemorySegment memory) {
    long sum = 0;
    for (long at = 0; at < memory.byteSize(); at += 8) {
      sum |= memory.get(ValueLayout.JAVA_LONG, at);
    }
    // All bytes are 1; asking makes sure that the loop is not left out.
    if (sum != 0x0101_0101_0101_0101L) {
      throw new IllegalStateException("memory changed while it was read");
    }
  }

  /** Seconds of the fastest round. */
  private static double best(int rounds, ThreadTeam team, ThreadTeam.Task task) {
    long best = Long.MAX_VALUE;
    for (int i = 0; i < rounds; i++) {
      long start = System.nanoTime();
      team.run(task);
      best = Math.min(best, System.nanoTime() - start);
    }
    return best / 1e9;
  }
}

package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.machine.MachineCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Bands of every tier against the definition, those of other processors in an emulator. */
final class AttentionBandTest {
  /** Relative to results of about 1: the exponential's error and sums of some hundred values. */
  private static final double BOUND = 1e-5;

  /** What is split keeps 16 bits: that share of scores, which are sums of some ten products. */
  private static final double BOUND_OF_TILES = 3e-5;

  /** Of bands that have no rows or no keys. */
  private static final int DIMENSION = 33;

  private static final List<DataType> TYPES = List.of(DataType.F32, DataType.F16, DataType.BF16);
  private static final List<DataType> HALVES = List.of(DataType.F16, DataType.BF16);

  /** A band of a dimension, with so many keys at once. */
  private interface Maker {
    AttentionBand make(int dimension, int keysAtOnce);
  }

  /** Bands of a tier, and what they are tested with at most. */
  private record Bands(
      String name, Maker maker, int mostKeys, int mostRows, List<DataType> types, double bound) {}

  private static List<Bands> bands() {
    List<Bands> bands = new ArrayList<>();
    if (Kernels.available(Tier.VECTOR)) {
      bands.add(new Bands("vector", VectorBand::new, 300, AttentionBand.ROWS, TYPES, BOUND));
    }
    for (Tier tier : List.of(Tier.AVX2, Tier.AVX512, Tier.AMX)) {
      if (Kernels.available(tier)) {
        bands.add(
            new Bands(
                tier.label(),
                (dimension, keys) -> new MachineBand(MachineTier.forBands(tier), dimension, keys),
                300,
                AttentionBand.ROWS,
                TYPES,
                BOUND));
      }
      bands.add(
          new Bands(
              tier.label() + " emulated",
              (dimension, keys) -> new MachineBand(EmulatedKernels.code(tier), dimension, keys),
              45,
              14,
              TYPES,
              BOUND));
    }
    if (Kernels.available(Tier.AMX)) {
      bands.add(tiles("tiles", MachineTier.forBands(Tier.AMX), 300, AttentionBand.ROWS));
    }
    if (Kernels.available(Tier.AVX512)) {
      bands.add(tiles("tiles of AVX-512", new EmulatedTiles(), 300, AttentionBand.ROWS));
    }
    bands.add(tiles("tiles emulated", EmulatedKernels.code(Tier.AMX), 130, 70));
    return bands;
  }

  private static Bands tiles(String name, MachineCode code, int mostKeys, int mostRows) {
    return new Bands(
        name,
        (dimension, keys) -> new TileBand(code, dimension, keys),
        mostKeys,
        mostRows,
        HALVES,
        BOUND_OF_TILES);
  }

  @TestFactory
  Stream<DynamicTest> bandsAttendAsTheDefinitionDoes() {
    return bands().stream()
        .map(bands -> DynamicTest.dynamicTest(bands.name, () -> compareWithDefinition(bands)));
  }

  private static void compareWithDefinition(Bands bands) {
    long seed = 5;
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 24; i++) {
      int dimension = 1 + random.nextInt(70);
      int keys = 1 + random.nextInt(bands.mostKeys);
      int rows = 1 + random.nextInt(bands.mostRows);
      DataType type = bands.types.get(i % bands.types.size());
      String what =
          "%s, %d rows, %d keys of %d, %s, case %d of seed %d"
              .formatted(bands.name, rows, keys, dimension, type, i, seed);
      int keysAtOnce = i % 2 == 0 ? 0 : AttentionBand.PIECE;
      try (AttentionBand band = bands.maker.make(dimension, keysAtOnce);
          AttentionBand definition = new ReferenceBand(dimension)) {
        double[] expected = attend(definition, dimension, keys, rows, type, i);
        double[] actual = attend(band, dimension, keys, rows, type, i);
        for (int j = 0; j < expected.length; j++) {
          assertThat(Math.abs(actual[j] - expected[j]))
              .as("%s, value %d: %s instead of %s", what, j, actual[j], expected[j])
              .isLessThanOrEqualTo(bands.bound * Math.max(1, Math.abs(expected[j])));
        }
      }
    }
  }

  @TestFactory
  Stream<DynamicTest> noRowsChangeNothing() {
    return eachType(
        (band, type) -> {
          try (Arena arena = Arena.ofShared()) {
            SplittableRandom random = new SplittableRandom(6);
            StridedRows rows = rows(arena, random, type, 7, DIMENSION);
            MemorySegment panels = arena.allocate(band.panelBytes(7), Rows.ALIGNMENT);
            MemorySegment results = results(arena, 1);
            band.pack(rows, rows, 0, 7, panels.address(), 7);

            band.begin(rows, 0, 0.3f);
            band.meet(panels.address(), 7, 0, 7, new int[] {}, new int[] {}, null);
            band.finish(out(results), results.address(), Float.BYTES);

            assertThat(results.toArray(ValueLayout.JAVA_FLOAT)).containsOnly(Float.NaN);
            assertThat(band.scores()).isZero();
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> rowsThatMeetNoKeysGetZeros() {
    return eachType(
        (band, type) -> {
          for (int keys : new int[] {0, 7}) {
            try (Arena arena = Arena.ofShared()) {
              SplittableRandom random = new SplittableRandom(7);
              StridedRows queries = rows(arena, random, type, 3, DIMENSION);
              StridedRows rows = rows(arena, random, type, 7, DIMENSION);
              MemorySegment panels = arena.allocate(band.panelBytes(keys), Rows.ALIGNMENT);
              MemorySegment results = results(arena, 3);
              int[] first = new int[AttentionBand.ROWS];
              int[] end = new int[AttentionBand.ROWS];
              Arrays.fill(end, keys);
              band.pack(rows, rows, 0, keys, panels.address(), keys);

              band.begin(queries, 3, 0.3f);
              band.meet(panels.address(), keys, keys / 2, keys / 2, first, end, null);
              band.finish(out(results), results.address(), Float.BYTES);

              float[] all = results.toArray(ValueLayout.JAVA_FLOAT);
              assertThat(Arrays.copyOf(all, 3)).containsOnly(AttentionBand.NO_KEYS);
              assertThat(Arrays.copyOfRange(all, 3, all.length)).containsOnly(0);
            }
          }
        });
  }

  private static Stream<DynamicTest> eachType(BiConsumer<AttentionBand, DataType> test) {
    return bands().stream()
        .map(
            bands ->
                DynamicTest.dynamicTest(
                    bands.name,
                    () -> {
                      for (DataType type : bands.types) {
                        try (AttentionBand band = bands.maker.make(DIMENSION, 0)) {
                          test.accept(band, type);
                        }
                      }
                    }));
  }

  /** Room for the sums of so many rows, then for the rows, all NaN. */
  private static MemorySegment results(Arena arena, int rows) {
    MemorySegment results = arena.allocate(4L * rows * (1 + DIMENSION), Rows.ALIGNMENT);
    for (int i = 0; i < rows * (1 + DIMENSION); i++) {
      results.setAtIndex(ValueLayout.JAVA_FLOAT, i, Float.NaN);
    }
    return results;
  }

  private static StridedRows out(MemorySegment results) {
    long rows = results.byteSize() / 4 / (1 + DIMENSION);
    return new StridedRows(results.address() + 4 * rows, 4L * DIMENSION, DataType.F32);
  }

  /** Two runs of keys, hidden ones, and in every third case a function: results, then sums. */
  private static double[] attend(
      AttentionBand band, int dimension, int keys, int rows, DataType type, int number) {
    SplittableRandom random = new SplittableRandom(number);
    try (Arena arena = Arena.ofShared()) {
      StridedRows queries = rows(arena, random, type, rows, dimension);
      StridedRows keyRows = rows(arena, random, type, keys, dimension);
      StridedRows values = rows(arena, random, type, keys, dimension);
      int[] first = new int[AttentionBand.ROWS];
      int[] end = new int[AttentionBand.ROWS];
      for (int row = 0; row < rows; row++) {
        first[row] = random.nextInt(keys);
        end[row] = random.nextInt(keys + 1);
      }
      ScoreFunction function =
          number % 3 == 2
              ? (score, row, key) -> (row + key) % 5 == 0 ? ScoreFunction.HIDDEN : score / 2 + 1
              : null;
      int middle = random.nextInt(keys + 1);
      long bytes = band.panelBytes(keys);
      MemorySegment panels = arena.allocate(bytes, Rows.ALIGNMENT);
      for (long at = 0; at + 4 <= bytes; at += 4) {
        panels.set(ValueLayout.JAVA_FLOAT, at, Float.NaN);
      }
      for (int from = 0; from < keys; from += AttentionBand.PIECE) {
        int to = Math.min(keys, from + AttentionBand.PIECE);
        band.pack(keyRows, values, from, to, panels.address(), keys);
      }
      MemorySegment out = arena.allocate(4L * rows * dimension, Rows.ALIGNMENT);
      MemorySegment sums = arena.allocate(8L * rows, Rows.ALIGNMENT);
      band.begin(queries, rows, 0.3f);
      band.meet(panels.address(), keys, 0, middle, first, end, function);
      band.meet(panels.address(), keys, middle, keys, first, end, function);
      band.finish(new StridedRows(out.address(), 4L * dimension, DataType.F32), sums.address(), 8);
      double[] results = new double[rows * dimension + rows];
      Arrays.setAll(
          results,
          j ->
              j < rows * dimension
                  ? out.getAtIndex(ValueLayout.JAVA_FLOAT, j)
                  : sums.get(ValueLayout.JAVA_FLOAT, 8L * (j - rows * dimension)));
      return results;
    }
  }

  private static StridedRows rows(
      Arena arena, SplittableRandom random, DataType type, int count, int dimension) {
    long stride = type.bytes(dimension) + 6;
    StridedRows rows =
        new StridedRows(arena.allocate(count * stride, Rows.ALIGNMENT).address(), stride, type);
    float[] row = new float[dimension];
    for (int i = 0; i < count; i++) {
      for (int d = 0; d < dimension; d++) {
        row[d] = (float) random.nextDouble(-1, 1);
      }
      rows.put(i, row);
    }
    return rows;
  }
}

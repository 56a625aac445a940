package io.steelyard.kernels.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What variants count of what they did. */
final class ExecutedWorkTest {
  private static final AttentionShape SHAPE = new AttentionShape(1, 300, 4, 2, 16, true);

  private record Done(Counts counts, Oracle.Deviation deviation) {}

  private static Done done(String spelling) {
    try (Arena arena = Arena.ofShared();
        Workbench workbench = workbench()) {
      AttentionInputs inputs = RandomInputs.of(arena, SHAPE, DataType.F32, 5);
      AttentionOutputs outputs = AttentionOutputs.allocate(arena, SHAPE, DataType.F32);
      try (Plan plan = Variants.of(spelling).plan(inputs, workbench)) {
        plan.run(outputs);
        return new Done(workbench.counts(), Oracle.check(inputs, plan, outputs));
      }
    }
  }

  private static Workbench workbench() {
    return new Workbench(Kernels.best(), 2, MemoryPool.pooled(), new PatternCache(4));
  }

  @Test
  void nothingIsChosenWhereEverythingIsSeen() {
    Done flash = done("flash");

    assertThat(flash.counts().chosen()).isZero();
    assertThat(flash.deviation().density()).isEqualTo(1);
  }

  @Test
  void boundsCountAsScoresThatChoose() {
    long bounds = 0;
    for (int query = 0; query < SHAPE.length(); query++) {
      bounds += (long) BlockBounds.PRODUCTS * Math.ceilDiv(query + 1, 16) * SHAPE.heads();
    }

    Counts counts = done("sparse:pattern=dynamic-threshold,ratio=0.9").counts();

    assertThat(counts.chosen()).isGreaterThan(bounds);
    assertThat(counts.scores()).isGreaterThan(counts.chosen());
    assertThat(done("sparse:pattern=top-k,ratio=0.9").counts().chosen())
        .as("every score, once")
        .isEqualTo(SHAPE.scores());
  }

  @Test
  void whatChoosingReadsIsMoved() {
    Counts all = done("sparse:pattern=top-k,ratio=0").counts();
    Counts flash = done("flash").counts();

    assertThat(all.bytesMoved() - flash.bytesMoved())
        .isGreaterThanOrEqualTo(SHAPE.scores() * SHAPE.dimension() * Float.BYTES);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sparse:pattern=top-k,ratio=0.9",
        "sparse:pattern=dynamic-threshold,ratio=0.9",
        "sparse:pattern=learned,ratio=0.9",
        "sparse:pattern=learned,ratio=0.9,keys=0.001",
        "block-sparse:pattern=adaptive,block=16",
        "block-sparse:pattern=strided,block=16",
        "sparse:pattern=random,block=1"
      })
  void masksAreScratchMemoryAndForeseen(String spelling) {
    long scratch = done(spelling).counts().scratchBytes();

    assertThat(scratch).isGreaterThan(done("flash").counts().scratchBytes());
    assertThat(scratch)
        .isLessThanOrEqualTo(
            Variants.of(spelling).estimate(SHAPE, DataType.F32, 2).scratchBytes()
                + done("flash").counts().scratchBytes());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sparse:pattern=top-k,ratio=0.9 | 0.1",
        "block-sparse:pattern=random,block=1,density=0.25 | 0.25"
      })
  void densityIsTheShareOfKeysThatAreSeen(String spelling, double density) {
    // Rows of few keys keep at least one.
    assertThat(done(spelling).deviation().density()).isCloseTo(density, within(0.01));
  }

  @Test
  void equalPatternsAreMadeOnceAndOthersAnew() {
    try (Arena arena = Arena.ofShared();
        Workbench workbench = workbench()) {
      AttentionInputs inputs = RandomInputs.of(arena, SHAPE, DataType.F32, 5);
      String pattern = "block-sparse:pattern=dilated-sparse,block=16,rates=";
      for (String rates : new String[] {"1/2/4", "1/2/4", "1/3/5", "1/2/4"}) {
        Variants.of(pattern + rates).plan(inputs, workbench).close();
      }

      assertThat(workbench.patterns().statistics())
          .isEqualTo(new PatternCache.Statistics(2, 2, 0, 2));
    }
  }
}

package io.steelyard.kernels.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Rows;
import io.steelyard.kernels.machine.SystemMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Ranks that hold their own positions alone give together what one process gives. */
final class RingRankTest {
  private static final long SEED = 7;

  private static final List<AttentionShape> SHAPES =
      List.of(
          new AttentionShape(1, 14, 2, 1, 8, true),
          new AttentionShape(2, 131, 4, 2, 24, true),
          new AttentionShape(1, 300, 3, 1, 32, false),
          new AttentionShape(1, 317, 2, 1, 16, true));

  /** Of each head, held to the definition; flash has every value to compare. */
  private static final int ROWS = 9;

  /** What the ranks did, by rank. */
  private record Done(List<Long> scores, List<Integer> met) {}

  @Test
  void shouldMatchTheDefinitionAndFlash() {
    try (Workbench workbench = workbench()) {
      for (AttentionShape shape : SHAPES) {
        for (boolean zigzag : new boolean[] {true, false}) {
          for (int ranks : new int[] {1, 2, 3, 7}) {
            check(workbench, new RingShards(shape, ranks, zigzag), DataType.F32, "ring", "flash");
          }
          check(workbench, new RingShards(shape, 3, zigzag), DataType.F16, "ring", "flash");
          check(workbench, new RingShards(shape, 3, zigzag), DataType.BF16, "ring", "flash");
        }
      }
    }
  }

  private static void check(
      Workbench workbench, RingShards shards, DataType type, String variant, String same) {
    AttentionShape shape = shards.shape();
    try (Arena arena = Arena.ofShared()) {
      AttentionInputs inputs = RandomInputs.of(arena, shape, type, SEED);
      AttentionOutputs outputs = AttentionOutputs.allocate(arena, shape, type);
      outputs.out().fill((byte) 0x7F);
      outputs.logSums().fill((byte) 0x7F);
      run(workbench, shards, RankVariant.of(variant, shards), type, arena, outputs);
      AttentionOutputs whole = AttentionOutputs.allocate(arena, shape, type);
      try (Plan flash = Variants.of(same).plan(inputs, workbench)) {
        flash.run(whole);
        Oracle.Deviation error = Oracle.check(inputs, flash, outputs, ROWS, SEED);
        assertThat(error.isRounding(type)).as("%s, %s: %s", shards, type, error).isTrue();
      }
      OutputDifference difference = OutputDifference.of(whole, outputs);
      assertThat(difference.isRounding(type)).as("%s, %s: %s", shards, type, difference).isTrue();
    }
  }

  private static Done run(
      Workbench workbench,
      RingShards shards,
      RankVariant variant,
      DataType type,
      Arena arena,
      AttentionOutputs whole) {
    List<MemorySegment> blocks = new ArrayList<>();
    List<AttentionInputs> inputs = new ArrayList<>();
    for (int rank = 0; rank < shards.ranks(); rank++) {
      blocks.add(SystemMemory.zeros(arena, variant.blockBytes(rank, type), Rows.ALIGNMENT));
      inputs.add(variant.inputs(arena, type, rank, SEED, blocks.getLast()));
    }
    List<Long> scores = new ArrayList<>();
    List<Integer> met = new ArrayList<>();
    List<RankPass> passes = new ArrayList<>();
    // All begin before any meets another's block, as processes do behind a barrier.
    for (int rank = 0; rank < shards.ranks(); rank++) {
      passes.add(variant.begin(rank, inputs.get(rank), blocks.get(rank), workbench));
    }
    for (int rank = 0; rank < shards.ranks(); rank++) {
      Counts before = workbench.counts();
      AttentionOutputs part = AttentionOutputs.allocate(arena, shards.shape(rank), type);
      part.out().fill((byte) 0x7F);
      int blocksMet = 0;
      try (RankPass pass = passes.get(rank)) {
        for (int step = 0; step < shards.ranks(); step++) {
          int source = shards.source(rank, step);
          blocksMet += pass.meet(source, blocks.get(source)) ? 1 : 0;
        }
        pass.finish(part);
      }
      shards.collect(rank, part, whole);
      scores.add(workbench.counts().since(before).scores());
      met.add(blocksMet);
    }
    return new Done(scores, met);
  }

  private static Workbench workbench() {
    return new Workbench(Kernels.best(), 2, MemoryPool.poisoned(), new PatternCache(0));
  }

  private static Done run(RingShards shards) {
    try (Arena arena = Arena.ofShared();
        Workbench workbench = workbench()) {
      return run(
          workbench,
          shards,
          RankVariant.of("ring", shards),
          DataType.F32,
          arena,
          AttentionOutputs.allocate(arena, shards.shape(), DataType.F32));
    }
  }

  @Test
  void shouldDilateOverRanksAsInOneProcess() {
    try (Workbench workbench = workbench()) {
      for (AttentionShape shape : SHAPES) {
        for (int ranks : new int[] {1, 3, 7}) {
          for (String parameters : new String[] {"", ":segments=16/50/256,rates=1/2/3"}) {
            for (int version : new int[] {2, 3}) {
              check(
                  workbench,
                  new RingShards(shape, ranks, false),
                  version == 2 ? DataType.F32 : DataType.BF16,
                  "ring-dilated-v" + version + parameters,
                  "improved-dilated" + parameters);
            }
          }
        }
      }
    }
  }

  @Test
  void shouldBalanceCausalWorkInZigzagOnly() {
    AttentionShape shape = new AttentionShape(1, 8192, 1, 1, 8, true);
    Done zigzag = run(new RingShards(shape, 4, true));
    Done contiguous = run(new RingShards(shape, 4, false));

    double mean = zigzag.scores().stream().mapToLong(Long::longValue).average().orElseThrow();
    assertThat(zigzag.scores())
        .allSatisfy(scores -> assertThat(scores / mean).isBetween(0.95, 1.05));
    // Ranks see 0.5, 1.5, 2.5 and 3.5 of 4 × 4 blocks, the diagonal's in tiles.
    assertThat((double) contiguous.scores().getLast() / contiguous.scores().getFirst())
        .isGreaterThan(5);
  }

  @Test
  void shouldComputeNothingOfAMaskedBlock() {
    AttentionShape shape = new AttentionShape(1, 1024, 1, 1, 8, true);
    assertThat(run(new RingShards(shape, 4, false)).met()).containsExactly(1, 2, 3, 4);
    assertThat(run(new RingShards(shape, 4, true)).met()).containsExactly(4, 4, 4, 4);
    AttentionShape open = new AttentionShape(1, 1024, 1, 1, 8, false);
    Done done = run(new RingShards(open, 4, false));
    assertThat(done.met()).containsExactly(4, 4, 4, 4);
  }

  @Test
  void shouldHoldEveryPositionOnce() {
    for (boolean zigzag : new boolean[] {true, false}) {
      RingShards shards = new RingShards(new AttentionShape(1, 101, 1, 1, 2, true), 5, zigzag);
      int[] held = new int[101];
      for (int rank = 0; rank < 5; rank++) {
        shards
            .chunks(rank)
            .forEach(
                chunk ->
                    Arrays.setAll(
                        held, i -> held[i] + (chunk.from() <= i && i < chunk.to() ? 1 : 0)));
      }
      assertThat(held).containsOnly(1);
    }
  }

  @Test
  void shouldRefuseWhatRanksDoNotCompute() {
    RingShards zigzag = new RingShards(new AttentionShape(1, 50, 1, 1, 2, true), 2, true);
    assertThatThrownBy(() -> RankVariant.of("dilated", zigzag))
        .hasMessageContaining("attention dilated isn't computed by ranks; ring,");
    assertThatThrownBy(() -> RankVariant.of("ring-dilated-v3", zigzag))
        .hasMessageContaining("takes contiguous shards");
  }

  @Test
  void shouldRefuseALengthThatIsTooShort() {
    AttentionShape shape = new AttentionShape(1, 5, 1, 1, 2, true);
    assertThatThrownBy(() -> new RingShards(shape, 3, true))
        .hasMessageContaining("a length of 5 can't be split into 6 chunks for 3 ranks");
  }
}

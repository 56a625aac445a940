package io.steelyard.kernels.attention;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whatever shape and parameters are asked for: a clear refusal, or a right answer. */
final class MutatedVariantsTest {
  private static final String LETTERS = "0123456789/:=,-.abcdefghijklmnopqrstuvwxyz";
  private static final List<DataType> TYPES = List.of(DataType.F32, DataType.F16, DataType.BF16);

  @Test
  void shouldRefuseOrAnswer() {
    mutate(4_000, 11);
  }

  @Test
  @Tag("soak")
  void shouldRefuseOrAnswerAMillionTimes() {
    mutate(1_000_000, 12);
  }

  private static void mutate(int cases, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int answered = 0;
    try (Workbench workbench =
        new Workbench(Kernels.best(), 2, MemoryPool.pooled(), new PatternCache(64))) {
      for (int i = 0; i < cases; i++) {
        String spelling = VariantsTest.SPELLINGS.get(random.nextInt(VariantsTest.SPELLINGS.size()));
        for (int mutations = random.nextInt(4); mutations > 0; mutations--) {
          spelling = mutated(spelling, random);
        }
        int[] sizes = new int[5];
        for (int j = 0; j < sizes.length; j++) {
          sizes[j] = size(j == 1 ? 40 : 4, random);
        }
        if (answers(workbench, spelling, sizes, random)) {
          answered++;
        }
      }
    }
    assertThat(answered).as("answers of %d cases, seed %d", cases, seed).isGreaterThan(cases / 20);
  }

  /** Mostly a size that can be, now and then none. */
  private static int size(int most, SplittableRandom random) {
    return switch (random.nextInt(40)) {
      case 0 -> random.nextInt();
      case 1 -> 0;
      default -> 1 + random.nextInt(most);
    };
  }

  private static String mutated(String spelling, SplittableRandom random) {
    StringBuilder text = new StringBuilder(spelling);
    int at = random.nextInt(text.length() + 1);
    String letter = LETTERS.charAt(random.nextInt(LETTERS.length())) + "";
    switch (random.nextInt(3)) {
      case 0 -> text.insert(at, letter);
      case 1 -> text.replace(Math.max(0, at - 1), at, letter);
      default -> text.delete(Math.max(0, at - 1), at);
    }
    return text.toString();
  }

  private static boolean answers(
      Workbench workbench, String spelling, int[] sizes, SplittableRandom random) {
    DataType type = TYPES.get(random.nextInt(TYPES.size()));
    try (Arena arena = Arena.ofShared()) {
      Variant variant = Variants.of(spelling);
      AttentionShape shape =
          new AttentionShape(
              sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], random.nextBoolean());
      Estimate estimate = variant.estimate(shape, type, workbench.threads());
      if (shape.queryValues() > 1 << 20 || estimate.scratchBytes() > 1 << 26) {
        return false;
      }
      AttentionInputs inputs = RandomInputs.of(arena, shape, type, 1);
      AttentionOutputs outputs = AttentionOutputs.allocate(arena, shape, type);
      try (Plan plan = variant.plan(inputs, workbench)) {
        plan.run(outputs);
        Oracle.Deviation error = Oracle.check(inputs, plan, outputs);
        assertThat(error.isRounding(type)).as("%s, %s: %s", spelling, shape, error).isTrue();
      }
      return true;
    } catch (IllegalArgumentException refused) {
      assertThat(refused.getMessage()).as(spelling).hasSizeGreaterThan(20);
      return false;
    }
  }
}

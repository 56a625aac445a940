package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.kernels.codec.Encoder;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Stacked matrices and gates by parts, against the same at once. */
class UnfusedKernelsTest {
  private static final int COLUMNS = 64;
  private static final int[] ROWS = {48, 16, 32};

  private final SplittableRandom random = new SplittableRandom(20261129);

  private Tensor tensor(Arena arena, DataType type, int rows) {
    float[] values = new float[rows * COLUMNS];
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    MemorySegment data = arena.allocate(type.bytes(values.length), 64);
    Encoder.encode(type, values, 0, values.length, data, 0);
    return new Tensor("part" + rows, type, COLUMNS, rows, data);
  }

  private Rows rows(Arena arena, int tokens, int width) {
    Rows rows = Rows.allocateApart(arena, tokens, width);
    for (int token = 0; token < tokens; token++) {
      for (int i = 0; i < width; i++) {
        rows.set(token, i, (float) random.nextGaussian());
      }
    }
    return rows;
  }

  private static float[][] values(Rows rows, int tokens) {
    float[][] values = new float[tokens][];
    for (int token = 0; token < tokens; token++) {
      values[token] = rows.row(token).toArray(ValueLayout.JAVA_FLOAT);
    }
    return values;
  }

  private void onBoth(Tier tier, BiConsumer<Kernels, Kernels> use) {
    assumeTrue(Kernels.available(tier), "not applicable here: no " + tier.label() + " tier");
    try (Kernels fused = Kernels.of(tier, 2);
        Kernels unfused = new UnfusedKernels(Kernels.of(tier, 2))) {
      use.accept(fused, unfused);
    }
  }

  @ParameterizedTest
  @EnumSource(Tier.class)
  void partsOfAMatrixGiveTheSameBits(Tier tier) {
    onBoth(
        tier,
        (fused, unfused) -> {
          for (DataType type : List.of(DataType.F32, DataType.F16, DataType.Q8_0, DataType.Q4_0)) {
            for (int tokens : new int[] {1, 3, 40}) {
              try (Arena arena = Arena.ofShared()) {
                List<Tensor> parts = new ArrayList<>();
                for (int count : ROWS) {
                  parts.add(tensor(arena, type, count));
                }
                Matrix together = fused.prepare(parts, arena);
                Matrix apart = unfused.prepare(parts, arena);
                assertThat(apart.rows()).isEqualTo(together.rows());
                assertThat(apart.columns()).isEqualTo(COLUMNS);
                Rows x = rows(arena, tokens, COLUMNS);
                Rows expected = rows(arena, tokens, together.rows());
                Rows actual = rows(arena, tokens, together.rows());

                fused.matmul(together, x, expected, tokens);
                unfused.matmul(apart, x, actual, tokens);

                assertThat(values(actual, tokens))
                    .as("%s, %d tokens", type, tokens)
                    .isDeepEqualTo(values(expected, tokens));
              }
            }
          }
        });
  }

  /** The reference tier rounds an activation that is written, and keeps it in double otherwise. */
  @ParameterizedTest
  @EnumSource(Tier.class)
  void aGateIsAnActivationAndAProduct(Tier tier) {
    onBoth(
        tier,
        (fused, unfused) -> {
          for (Activation activation : Activation.values()) {
            try (Arena arena = Arena.ofShared()) {
              int tokens = 5;
              int width = 77;
              Rows gate = rows(arena, tokens, 2 * width).columns(0, width);
              Rows up = rows(arena, tokens, width);
              Rows same = Rows.allocateApart(arena, tokens, width);
              for (int token = 0; token < tokens; token++) {
                same.copy(token, gate, token);
              }

              fused.gate(activation, gate, up, gate, tokens);
              unfused.gate(activation, same, up, same, tokens);

              for (int token = 0; token < tokens; token++) {
                for (int i = 0; i < width; i++) {
                  float expected = gate.get(token, i);
                  float bound = tier == Tier.REFERENCE ? Math.ulp(expected) : 0;
                  assertThat(Math.abs(same.get(token, i) - expected)).isLessThanOrEqualTo(bound);
                }
              }
            }
          }
        });
  }
}

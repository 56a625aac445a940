package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The emulator against the processor: the AVX2 tier's kernels give the same bits on both. */
@NeedsAvx2
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class EmulatedAvx2Test {
  private final Kernels real = Kernels.of(Tier.AVX2, 1);
  private final Kernels emulated = EmulatedKernels.of(Tier.AVX2).make(1, false);

  @AfterAll
  void close() {
    real.close();
    emulated.close();
  }

  private interface Operator {
    Rows apply(Kernels kernels, RandomData data, Arena arena);
  }

  private void compare(Operator operator) {
    try (Arena arena = Arena.ofShared()) {
      Rows expected = operator.apply(real, new RandomData(arena, 17), arena);
      Rows actual = operator.apply(emulated, new RandomData(arena, 17), arena);
      for (int row = 0; row < expected.count(); row++) {
        assertThat(actual.row(row).mismatch(expected.row(row))).as("row %d", row).isEqualTo(-1);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void products(DataType type) {
    int columns = type.blockSize() == 1 ? 77 : type.blockSize() == 32 ? 96 : 256;
    for (int tokens : new int[] {1, 3, 19}) {
      compare(
          (kernels, data, arena) -> {
            Matrix matrix = kernels.prepare(List.of(data.tensor(type, 37, columns)));
            Rows y = Rows.allocate(arena, tokens, 37);
            kernels.matmul(matrix, data.rows(tokens, columns, columns), y, tokens);
            return y;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 16, 101})
  void operatorsOnRows(int width) {
    compare(
        (kernels, data, arena) -> {
          Rows x = data.rows(5, width, width + 3);
          Rows weight = data.rows(1, width, width);
          kernels.rmsNorm(x, weight, 1e-5f, x, 5);
          kernels.addBias(x, weight, 5);
          kernels.layerNorm(x, weight, 1e-5f, x, 5);
          kernels.add(x, data.rows(5, width, width), 5);
          kernels.scale(x, 1.37f, 5);
          kernels.softCap(x, 3, 5);
          for (Activation activation : Activation.values()) {
            kernels.gate(activation, x, data.rows(5, width, width), x, 5);
            kernels.activate(activation, x, 5);
          }
          return x;
        });
  }

  @ParameterizedTest
  @EnumSource
  void rotations(Rope.Layout layout) {
    Rope rope = new Rope(layout, 12, 10_000, 1, new float[0]);
    compare(
        (kernels, data, arena) -> {
          Rows angles = rope.allocateAngles(arena, 5);
          rope.angles(1000, 5, angles);
          Rows x = data.rows(5, 48, 50);
          kernels.rope(rope, angles, x, 16, 5);
          return x;
        });
  }

  @ParameterizedTest
  @EnumSource(names = {"F32", "F16", "Q8_0"})
  void attention(DataType type) {
    for (int tokens : new int[] {1, 40}) {
      compare(
          (kernels, data, arena) -> {
            KeyValues cache = kernels.keyValues(arena, new KeyValues.Shape(type, 2, 64, 110));
            kernels.store(cache, data.rows(70, 128, 128), data.rows(70, 128, 128), 0, 70);
            kernels.store(
                cache, data.rows(tokens, 128, 128), data.rows(tokens, 128, 128), 70, tokens);
            Rows out = Rows.allocate(arena, tokens, 384);
            AttentionRule rule = new AttentionRule(0.125f, 0.5f, 50, true);
            kernels.attention(data.rows(tokens, 384, 384), cache, 70, rule, out, tokens);
            return out;
          });
    }
  }
}

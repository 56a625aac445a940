package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Norm, rotation, gate and sum: a fast tier against the reference tier. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ElementwiseTest {
  private final Kernels reference = Kernels.of(Tier.REFERENCE, 1);
  private final Kernels fast;

  ElementwiseTest(Tier tier) {
    this(KernelsMaker.of(tier));
  }

  ElementwiseTest(KernelsMaker made) {
    fast = made.make(3, false);
  }

  @AfterAll
  void close() {
    reference.close();
    fast.close();
  }

  /** An operator that changes or fills rows of {@code width} values. */
  private interface Operator {
    Rows apply(Kernels kernels, RandomData data, int width, int tokens);
  }

  private void compare(int width, double tolerance, Operator operator) {
    for (int tokens : new int[] {1, 4, 5, 33}) {
      try (Arena arena = Arena.ofShared()) {
        Rows expected = operator.apply(reference, new RandomData(arena, width), width, tokens);
        Rows actual = operator.apply(fast, new RandomData(arena, width), width, tokens);
        for (int token = 0; token < tokens; token++) {
          for (int i = 0; i < width; i++) {
            assertThat(actual.get(token, i))
                .as("width %d, token %d of %d, column %d", width, token, tokens, i)
                .isCloseTo(expected.get(token, i), within((float) tolerance));
          }
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 16, 64, 100, 576, 1031})
  void normsAgree(int width) {
    // Results are of size about 1; the sum of squares errs by at most width · 2^-24, halved by √.
    compare(
        width,
        (width + 8) * 0x1p-24,
        (kernels, data, w, tokens) -> {
          Rows x = data.rows(tokens, w, w + 2);
          kernels.rmsNorm(x, data.rows(1, w, w), 1e-5f, x, tokens);
          return x;
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 16, 64, 100, 576, 1031})
  void headsAreNormedByThemselves(int width) {
    compare(
        3 * width,
        (width + 8) * 0x1p-24,
        (kernels, data, w, tokens) -> {
          Rows x = data.rows(tokens, w, w + 2);
          kernels.rmsNorm(x, data.rows(1, w / 3, w / 3), 1e-5f, x, tokens);
          return x;
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {5, 16, 64, 100, 576, 1031})
  void layerNormsAgree(int width) {
    // As a norm's, and the mean's error, at most width · 2^-24 of values' size, over their spread.
    compare(
        width,
        3 * (width + 8) * 0x1p-24,
        (kernels, data, w, tokens) -> {
          Rows x = data.rows(tokens, w, w + 2);
          kernels.layerNorm(x, data.rows(1, w, w), 1e-5f, x, tokens);
          return x;
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 16, 64, 100, 576, 1031})
  void activationsAgree(int width) {
    for (Activation activation : Activation.values()) {
      compare(
          width,
          4e-7,
          (kernels, data, w, tokens) -> {
            Rows x = data.rows(tokens, w, w + 2);
            kernels.activate(activation, x, tokens);
            return x;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 16, 64, 100, 576, 1031})
  void biasesAndFactorsAreEqual(int width) {
    compare(
        width,
        0,
        (kernels, data, w, tokens) -> {
          Rows x = data.rows(tokens, w, w + 2);
          kernels.addBias(x, data.rows(1, w, w), tokens);
          kernels.scale(x, 1.37f, tokens);
          return x;
        });
  }

  @ParameterizedTest
  @ValueSource(floats = {0.01f, 0.3f, 1, 30})
  void softCapsAgree(float cap) {
    // Of 1 - e, with e a few 2^-24 off, against 1 + e.
    compare(
        101,
        cap * 0x1p-22,
        (kernels, data, w, tokens) -> {
          Rows x = data.rows(tokens, w, w + 2);
          kernels.softCap(x, cap, tokens);
          return x;
        });
  }

  @Test
  void aSoftCapHoldsWhateverTheValue() {
    try (Arena arena = Arena.ofShared()) {
      for (Kernels kernels : List.of(reference, fast)) {
        Rows x = Rows.allocate(arena, 1, 4);
        float[] values = {1e30f, -1e30f, 0, -0.0f};
        for (int i = 0; i < values.length; i++) {
          x.set(0, i, values[i]);
        }
        kernels.softCap(x, 50, 1);
        assertThat(x.row(0).toArray(ValueLayout.JAVA_FLOAT)).containsExactly(50, -50, 0, -0.0f);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 16, 64, 100, 576, 1031})
  void gatesAgree(int width) {
    for (Activation activation : Activation.values()) {
      compare(
          width,
          4e-7,
          (kernels, data, w, tokens) -> {
            Rows gate = data.rows(tokens, w, w + 2);
            kernels.gate(activation, gate, data.rows(tokens, w, w), gate, tokens);
            return gate;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 16, 64, 100, 576, 1031})
  void sumsAreEqual(int width) {
    compare(
        width,
        0,
        (kernels, data, w, tokens) -> {
          Rows x = data.rows(tokens, w, w + 2);
          kernels.add(x, data.rows(tokens, w, w + 1), tokens);
          return x;
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 16, 64, 100, 576, 1031})
  void productsAreEqual(int width) {
    compare(
        width,
        0,
        (kernels, data, w, tokens) -> {
          Rows x = data.rows(tokens, w, w + 2);
          kernels.multiply(x, data.rows(tokens, w, w + 1), tokens);
          return x;
        });
  }

  @Test
  void rotationsAgreeInBothLayouts() {
    for (Rope.Layout layout : Rope.Layout.values()) {
      for (int turned : new int[] {2, 8, 12}) {
        Rope rope = new Rope(layout, turned, 10_000, 1, new float[0]);
        compare(
            36,
            3e-7,
            (kernels, data, w, tokens) -> {
              try (Arena arena = Arena.ofShared()) {
                Rows angles = rope.allocateAngles(arena, tokens);
                rope.angles(1000, tokens, angles);
                Rows x = data.rows(tokens, w, w + 2);
                kernels.rope(rope, angles, x, 12, tokens);
                return x;
              }
            });
      }
    }
  }

  @Test
  void rotationTurnsPairsByPositionTimesFrequency() {
    try (Arena arena = Arena.ofShared()) {
      for (Kernels kernels : List.of(reference, fast)) {
        Rope interleaved = new Rope(Rope.Layout.INTERLEAVED, 4, 100, 0.5, new float[] {1, 2});
        Rope split = new Rope(Rope.Layout.SPLIT, 4, 100, 0.5, new float[] {1, 2});
        Rows angles = interleaved.allocateAngles(arena, 1);
        interleaved.angles(3, 1, angles);
        Rows x = Rows.allocate(arena, 1, 4);
        x.set(0, 0, 1);
        x.set(0, 2, 1);
        kernels.rope(interleaved, angles, x, 4, 1);
        // Position 3 at half scale; frequencies 1 and 1/10, the second divided by 2.
        double[] expected = {Math.cos(1.5), Math.sin(1.5), Math.cos(0.075), Math.sin(0.075)};
        for (int i = 0; i < 4; i++) {
          assertThat(x.get(0, i)).isCloseTo((float) expected[i], within(1e-7f));
        }
        x = Rows.allocate(arena, 1, 4);
        x.set(0, 0, 1);
        x.set(0, 1, 1);
        kernels.rope(split, angles, x, 4, 1);
        double[] halves = {Math.cos(1.5), Math.cos(0.075), Math.sin(1.5), Math.sin(0.075)};
        for (int i = 0; i < 4; i++) {
          assertThat(x.get(0, i)).isCloseTo((float) halves[i], within(1e-7f));
        }
      }
    }
  }

  @Test
  void noTokensChangeNothing() {
    try (Arena arena = Arena.ofShared()) {
      RandomData data = new RandomData(arena, 3);
      Rows rows = data.rows(2, 24, 26);
      Rows weight = data.rows(1, 24, 24);
      Rope rope = new Rope(Rope.Layout.SPLIT, 8, 10_000, 1, new float[0]);
      Rows angles = rope.allocateAngles(arena, 0);
      byte[] before = rows.data().toArray(ValueLayout.JAVA_BYTE);
      for (Kernels kernels : List.of(reference, fast)) {
        // With rows that aren't asked for, and without any.
        for (Rows x : List.of(rows, rows.from(2))) {
          kernels.rmsNorm(x, weight, 1e-5f, x, 0);
          kernels.layerNorm(x, weight, 1e-5f, x, 0);
          kernels.rope(rope, angles, x, 12, 0);
          for (Activation activation : Activation.values()) {
            kernels.gate(activation, x, weight, x, 0);
            kernels.activate(activation, x, 0);
          }
          kernels.multiply(x, weight, 0);
          kernels.add(x, weight, 0);
          kernels.addBias(x, weight, 0);
          kernels.scale(x, 2, 0);
          kernels.softCap(x, 1, 0);
        }
      }
      assertThat(rows.data().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
    }
  }

  @Test
  void badRotationsAreRefused() {
    assertThatThrownBy(() -> new Rope(Rope.Layout.SPLIT, 7, 10_000, 1, new float[0]))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Rope(Rope.Layout.SPLIT, 8, 10_000, 1, new float[3]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("3 rope factors where 4 are needed");
  }

  @Test
  void rowsKnowTheirSize() {
    try (Arena arena = Arena.ofShared()) {
      Rows rows = Rows.allocate(arena, 3, 10);
      assertThat(rows.count()).isEqualTo(3);
      assertThat(rows.columns(4, 6).count()).isEqualTo(3);
      assertThat(rows.from(2).count()).isEqualTo(1);
      assertThat(rows.from(3).count()).isZero();
      assertThatThrownBy(() -> new Rows(rows.data(), 10, 9))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> new Rows(rows.data(), 0, 10))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("rows of 0 values can't have stride 10");
    }
  }
}

package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.codec.Repacker;
import io.steelyard.kernels.codec.TensorCodec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A fast tier's products and decoders against the reference tier. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class MatmulTest {
  final Kernels reference = Kernels.of(Tier.REFERENCE, 2);
  final Kernels fast;

  private final KernelsMaker made;
  private final Sizes sizes;

  MatmulTest(Tier tier) {
    this(KernelsMaker.of(tier));
  }

  MatmulTest(KernelsMaker made) {
    this(made, Sizes.ALL);
  }

  MatmulTest(KernelsMaker made, Sizes sizes) {
    this.made = made;
    this.sizes = sizes;
    fast = made.make(2, false);
  }

  /**
   * How much rounding activations, as the tier does for so many tokens, can change the product of a
   * row with a token's activations.
   *
   * @param type that the tier holds the row as
   */
  abstract double rounding(DataType type, float[] row, Rows x, int token, int tokens);

  @AfterAll
  void close() {
    reference.close();
    fast.close();
  }

  @ParameterizedTest
  @EnumSource
  void productsAgreeForAllTypesAndSizes(DataType type) {
    for (int columns : sizes.columns(type)) {
      for (int rows : sizes.rows(type)) {
        for (int tokens : sizes.tokens(type)) {
          long seed = columns * 1_000_003L + rows * 1009L + tokens;
          try (Arena arena = Arena.ofShared()) {
            RandomData data = new RandomData(arena, seed);
            Tensor tensor = data.tensor(type, rows, columns);
            Rows x = data.rows(tokens, columns, columns + 5);
            compare(List.of(tensor), x, data.rows(tokens, rows, rows + 3), tokens, arena, seed);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyNumberOfFewTokensAgrees(DataType type) {
    long seed = 6;
    int rows = sizes.fewTokensRows();
    try (Arena arena = Arena.ofShared()) {
      RandomData data = new RandomData(arena, seed);
      List<Tensor> parts = List.of(data.tensor(type, rows, 512));
      Rows x = data.rows(17, 512, 517);
      for (int tokens : sizes.fewTokens()) {
        compare(parts, x, data.rows(tokens, rows, rows + 3), tokens, arena, seed);
      }
    }
  }

  /** Scales of 2^-128 to 2^-126, of which the first two are subnormal, and of 2^120 to 2^122. */
  @Test
  void theSmallestAndTheLargestPowersOfTwoScale() {
    for (int first : new int[] {0, 248}) {
      for (int tokens : new int[] {1, 40}) {
        try (Arena arena = Arena.ofShared()) {
          RandomData data = new RandomData(arena, first);
          Tensor tensor = data.tensor(DataType.MXFP4, 9, 160);
          for (int block = 0; block * 17L < tensor.data().byteSize(); block++) {
            tensor.data().set(ValueLayout.JAVA_BYTE, block * 17L, (byte) (first + block % 3));
          }
          Rows x = data.rows(tokens, 160, 160);
          reference.scale(x, first == 0 ? 0x1p60f : 0x1p-60f, tokens);
          compare(List.of(tensor), x, data.rows(tokens, 9, 9), tokens, arena, first);
        }
      }
    }
  }

  @Test
  void stackedTensorsOfDifferentTypesGiveOneProduct() {
    for (int tokens : sizes.tokens(DataType.Q4_K)) {
      try (Arena arena = Arena.ofShared()) {
        RandomData data = new RandomData(arena, tokens);
        List<Tensor> parts =
            List.of(
                data.tensor(DataType.Q4_K, 37, 512),
                data.tensor(DataType.F16, 1, 512),
                data.tensor(DataType.Q6_K, 66, 512));
        compare(parts, data.rows(tokens, 512, 512), data.rows(tokens, 104, 104), tokens, arena, 0);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"FP8_E4M3", "FP8_E5M2", "INT8_TENSOR"})
  void rowsAreMultipliedWithTheirOwnScales(DataType type) {
    for (int scales : new int[] {3, 12}) {
      for (int tokens : new int[] {1, 40}) {
        try (Arena arena = Arena.ofShared()) {
          RandomData data = new RandomData(arena, scales);
          Tensor plain = data.tensor(type, 12, 96);
          MemorySegment floats = arena.allocate(ValueLayout.JAVA_FLOAT, scales);
          for (int i = 0; i < scales; i++) {
            floats.setAtIndex(ValueLayout.JAVA_FLOAT, i, (1 + i) / 1000f);
          }
          List<Tensor> parts =
              List.of(
                  data.tensor(DataType.F32, 5, 96),
                  new Tensor("scaled", type, 96, 12, plain.data(), floats));
          Rows x = data.rows(tokens, 96, 96);
          compare(parts, x, data.rows(tokens, 17, 17), tokens, arena, scales);
        }
      }
    }
  }

  /**
   * The tolerance is the classical bound of a float32 sum in any order, (n + 8) · 2^-24 · Σ|w·x|;
   * the 8 stands for the roundings of scales and products.
   */
  private void compare(
      List<Tensor> parts, Rows x, Rows actual, int tokens, Arena arena, long seed) {
    Matrix exact = reference.prepare(parts);
    Rows expected = Rows.allocate(arena, tokens, exact.rows());
    reference.matmul(exact, x, expected, tokens);
    Matrix prepared = fast.prepare(parts);
    fast.matmul(prepared, x, actual, tokens);
    int columns = exact.columns();
    float[] row = new float[columns];
    int r = 0;
    for (int p = 0; p < parts.size(); p++) {
      Tensor part = parts.get(p);
      DataType held = prepared.held().get(p).type();
      for (int i = 0; i < part.rows(); i++, r++) {
        TensorCodec.decode(part, i, row);
        for (int token = 0; token < tokens; token++) {
          double magnitude = RandomData.magnitude(row, x, token);
          // Q4_0 and the minima are multiplied apart from the rest, with sums of their own.
          double bound =
              (columns + 8) * 0x1p-24 * magnitude * extra(part.type())
                  + rounding(held, row, x, token, tokens)
                  + repacking(part.type(), held, magnitude, x, token);
          double error = Math.abs((double) expected.get(token, r) - actual.get(token, r));
          if (!(error <= bound + 1e-30)) {
            assertThat(error)
                .as(
                    "%s, %d columns, row %d of %d, token %d of %d, seed %d: %s, reference %s",
                    part.type(),
                    columns,
                    r,
                    exact.rows(),
                    token,
                    tokens,
                    seed,
                    actual.get(token, r),
                    expected.get(token, r))
                .isLessThanOrEqualTo(bound);
          }
        }
      }
    }
  }

  /**
   * What repacking rounds: to half a unit of 11 bits, and of subnormal halves to half a unit of
   * 2^-24, which a level of at most 127 may multiply.
   */
  private static double repacking(
      DataType type, DataType held, double magnitude, Rows x, int token) {
    if (held == type || !Repacker.rounds(type)) {
      return 0;
    }
    double bound = magnitude * 0x1p-11;
    for (int c = 0; c < x.width(); c++) {
      bound += Math.abs(x.get(token, c)) * 0x1p-18;
    }
    return bound;
  }

  /** Types with an offset sum two larger numbers whose difference is the value. */
  private static double extra(DataType type) {
    return switch (type) {
      case Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K -> 4;
      case IQ4_NL, IQ4_XS, MXFP4 -> 6;
      default -> 1;
    };
  }

  @ParameterizedTest
  @EnumSource
  void embeddingsAreTheCodecsBits(DataType type) {
    for (int columns : sizes.columns(type)) {
      try (Arena arena = Arena.ofShared()) {
        RandomData data = new RandomData(arena, columns);
        List<Tensor> parts =
            List.of(data.tensor(type, 9, columns), data.tensor(DataType.F16, 4, columns));
        int[] ids = {99, 0, 8, 9, 12, 3};
        Rows expected = Rows.allocate(arena, 5, columns);
        Rows actual = data.rows(5, columns, columns + 1);

        reference.embed(reference.prepare(parts), ids, 1, 5, expected);
        fast.embed(fast.prepare(parts), ids, 1, 5, actual);

        for (int token = 0; token < 5; token++) {
          for (int c = 0; c < columns; c++) {
            assertThat(Float.floatToRawIntBits(actual.get(token, c)))
                .as("%s, %d columns, token %d, column %d", type, columns, token, c)
                .isEqualTo(Float.floatToRawIntBits(expected.get(token, c)));
          }
        }
      }
    }
  }

  @Test
  void theNumberOfThreadsChangesNoBit() {
    for (int tokens : new int[] {1, 3, 40}) {
      try (Arena arena = Arena.ofShared()) {
        RandomData data = new RandomData(arena, tokens);
        List<Tensor> parts = List.of(data.tensor(DataType.Q4_1, 133, 96));
        Rows x = data.rows(tokens, 96, 96);
        Rows expected = Rows.allocate(arena, tokens, 133);
        fast.matmul(fast.prepare(parts), x, expected, tokens);
        for (int threads : new int[] {1, 3}) {
          Rows actual = Rows.allocate(arena, tokens, 133);
          try (Kernels other = made.make(threads, false)) {
            other.matmul(other.prepare(parts), x, actual, tokens);
          }
          assertThat(actual.data().mismatch(expected.data()))
              .as("%d threads", threads)
              .isEqualTo(-1);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void fewTokensGiveTheBitsOfSingleTokens(DataType type) {
    int few = 16;
    assertThat(fast.fewTokens()).isEqualTo(few);
    try (Arena arena = Arena.ofShared()) {
      RandomData data = new RandomData(arena, 3);
      Matrix matrix = fast.prepare(List.of(data.tensor(type, 39, 512)));
      Rows x = data.rows(few, 512, 512);
      Rows single = Rows.allocate(arena, few, 39);
      for (int token = 0; token < few; token++) {
        fast.matmul(matrix, x.from(token), single.from(token), 1);
      }
      for (int tokens : sizes.fewTokens()) {
        if (tokens <= few) {
          Rows together = Rows.allocate(arena, tokens, 39);
          fast.matmul(matrix, x, together, tokens);
          long bytes = together.data().byteSize();
          assertThat(together.data().mismatch(single.data().asSlice(0, bytes)))
              .as("%d tokens", tokens)
              .isEqualTo(-1);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void deterministicProductsAreThoseOfSingleTokens(DataType type) {
    try (Arena arena = Arena.ofShared();
        Kernels deterministic = made.make(2, true)) {
      RandomData data = new RandomData(arena, 11);
      Matrix matrix = deterministic.prepare(List.of(data.tensor(type, 21, 256)));
      Rows x = data.rows(45, 256, 256);
      Rows together = Rows.allocate(arena, 45, 21);
      Rows single = Rows.allocate(arena, 45, 21);
      deterministic.matmul(matrix, x, together, 45);
      for (int token = 0; token < 45; token++) {
        fast.matmul(matrix, x.from(token), single.from(token), 1);
      }
      assertThat(together.data().mismatch(single.data())).isEqualTo(-1);
    }
  }

  @Test
  void aTokensResultDoesNotDependOnItsNeighbours() {
    try (Arena arena = Arena.ofShared()) {
      RandomData data = new RandomData(arena, 4);
      Matrix matrix = fast.prepare(List.of(data.tensor(DataType.Q8_0, 20, 1056)));
      Rows x = data.rows(64, 1056, 1056);
      Rows all = Rows.allocate(arena, 64, 20);
      Rows some = Rows.allocate(arena, 19, 20);
      fast.matmul(matrix, x, all, 64);
      fast.matmul(matrix, x.from(30), some, 19);
      assertThat(some.data().mismatch(all.from(30).data().asSlice(0, some.data().byteSize())))
          .isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void noTokensChangeNothing(DataType type) {
    try (Arena arena = Arena.ofShared()) {
      RandomData data = new RandomData(arena, 13);
      List<Tensor> parts = List.of(data.tensor(type, 5, 256));
      Rows x = data.rows(1, 256, 256);
      Rows y = data.rows(2, 5, 8);
      Rows table = data.rows(1, 256, 256);
      byte[] product = y.data().toArray(ValueLayout.JAVA_BYTE);
      byte[] embedding = table.data().toArray(ValueLayout.JAVA_BYTE);
      for (Kernels kernels : List.of(reference, fast)) {
        Matrix matrix = kernels.prepare(parts);
        // With a row that isn't asked for, and without any.
        kernels.matmul(matrix, x, y, 0);
        kernels.matmul(matrix, x.from(1), y.from(2), 0);
        kernels.embed(matrix, new int[] {3}, 1, 0, table);
        kernels.embed(matrix, new int[0], 0, 0, table.from(1));
      }
      assertThat(y.data().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(product);
      assertThat(table.data().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(embedding);
    }
  }

  @Test
  void noMatrixIsEmpty() {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment nothing = arena.allocate(0);
      assertThatThrownBy(() -> new Tensor("w", DataType.F32, 8, 0, nothing))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("tensor w is empty");
      assertThatThrownBy(() -> new Tensor("w", DataType.Q8_0, 0, 3, nothing))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("tensor w is empty");
      for (Kernels kernels : List.of(reference, fast)) {
        assertThatThrownBy(() -> kernels.prepare(List.of()))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("a matrix needs at least one tensor");
      }
    }
  }

  @Test
  void operandsThatDoNotFitAreRefused() {
    try (Arena arena = Arena.ofShared()) {
      RandomData data = new RandomData(arena, 5);
      for (Kernels kernels : List.of(reference, fast)) {
        Matrix matrix = kernels.prepare(List.of(data.tensor(DataType.F32, 3, 8)));
        Rows x = Rows.allocate(arena, 2, 8);
        Rows y = Rows.allocate(arena, 2, 3);
        assertThatThrownBy(() -> kernels.matmul(matrix, y, y, 2))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("the multiplicand has rows of 3 values where 8 are needed");
        assertThatThrownBy(() -> kernels.matmul(matrix, x, y, 3))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("the multiplicand has 2 rows where 3 are needed");
        assertThatThrownBy(() -> kernels.matmul(matrix, x, y, -1))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("the multiplicand has 2 rows where -1 are needed");
        assertThatThrownBy(() -> kernels.embed(matrix, new int[] {3}, 0, 1, x))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage("token id 3 is not in the vocabulary of 3");
        assertThatThrownBy(
                () ->
                    kernels.prepare(
                        List.of(data.tensor(DataType.F32, 3, 8), data.tensor(DataType.F32, 3, 9))))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("can't be stacked");
      }
    }
  }
}

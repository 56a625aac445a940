package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.assembler.Decoder;
import io.steelyard.kernels.assembler.Instruction;
import io.steelyard.kernels.assembler.Instruction.General;
import io.steelyard.kernels.assembler.Instruction.Name;
import io.steelyard.kernels.assembler.Instruction.Vector;
import io.steelyard.kernels.assembler.Op;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.Product;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The emulator against the processor: the AVX2 tier's kernels give the same bits on both, whether
 * they use AVX-VNNI or not.
 */
@NeedsAvx2
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class EmulatedAvx2Test {
  private final Kernels real = Kernels.of(Tier.AVX2, 1);
  private final Kernels emulated = EmulatedKernels.avx2(false).make(1, false);
  private final Kernels withVnni = EmulatedKernels.avx2(true).make(1, false);

  @AfterAll
  void close() {
    real.close();
    emulated.close();
    withVnni.close();
  }

  private interface Operator {
    Rows apply(Kernels kernels, RandomData data, Arena arena);
  }

  private void compare(Operator operator) {
    try (Arena arena = Arena.ofShared()) {
      Rows expected = operator.apply(real, new RandomData(arena, 17), arena);
      for (boolean vnni : new boolean[] {false, true}) {
        Rows actual = operator.apply(vnni ? withVnni : emulated, new RandomData(arena, 17), arena);
        for (int row = 0; row < expected.count(); row++) {
          assertThat(actual.row(row).mismatch(expected.row(row)))
              .as("row %d, AVX-VNNI %s", row, vnni)
              .isEqualTo(-1);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void products(DataType type) {
    int columns = type.blockSize() == 1 ? 77 : type.blockSize() == 32 ? 96 : 256;
    for (int tokens : new int[] {1, 3, 8, 19}) {
      compare(
          (kernels, data, arena) -> {
            Matrix matrix = kernels.prepare(List.of(data.tensor(type, 37, columns)));
            Rows y = Rows.allocate(arena, tokens, 37);
            kernels.matmul(matrix, data.rows(tokens, columns, columns), y, tokens);
            return y;
          });
    }
  }

  @Test
  void withVnniOneInstructionMultipliesWordsAndAdds() {
    MachineCode without = EmulatedKernels.avx2Code(false);
    MachineCode with = EmulatedKernels.avx2Code(true);
    for (Product product : List.of(Product.WORDS, Product.SIX_BITS)) {
      for (int tokens = 1; tokens <= product.tokens(); tokens++) {
        isShorter(with.product(product, tokens), without.product(product, tokens));
      }
    }
    for (DataType type : List.of(DataType.Q8_0, DataType.IQ4_NL, DataType.IQ4_XS)) {
      for (int tokens = 1; tokens <= with.fewTokens(type); tokens++) {
        isShorter(with.few(type, tokens), without.few(type, tokens));
      }
    }
  }

  private static void isShorter(Function with, Function without) {
    Map<Op, Integer> expected = instructions(without);
    Map<Op, Integer> actual = instructions(with);
    int inOne = actual.getOrDefault(Op.VPDPWSSD, 0);
    assertThat(inOne).isPositive();
    assertThat(actual).doesNotContainKey(Op.VPADDD);
    actual.remove(Op.VPDPWSSD);
    actual.merge(Op.VPMADDWD, inOne, Integer::sum);
    actual.put(Op.VPADDD, inOne);
    assertThat(actual).isEqualTo(expected);
  }

  /** How many a function has of each vector instruction. */
  private static Map<Op, Integer> instructions(Function function) {
    MemorySegment memory = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    Map<Op, Integer> counts = new EnumMap<>(Op.class);
    long at = function.address();
    while (true) {
      Instruction instruction = Decoder.decode(memory, at);
      if (instruction instanceof General general && general.name() == Name.RET) {
        return counts;
      }
      if (instruction instanceof Vector vector) {
        counts.merge(vector.op(), 1, Integer::sum);
      }
      at = instruction.next();
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

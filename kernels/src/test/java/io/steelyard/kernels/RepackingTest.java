package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.codec.Codec;
import io.steelyard.kernels.codec.Repacker;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.api.Test;

@NeedsAvx2
class RepackingTest {
  @Test
  void ownsWhatItWrote() {
    try (Arena arena = Arena.ofShared();
        ThreadTeam team = new ThreadTeam(2)) {
      RandomData data = new RandomData(arena, 1);
      StackedMatrix stacked =
          StackedMatrix.of(
              List.of(data.tensor(DataType.Q4_K, 3, 512), data.tensor(DataType.Q3_K, 5, 512)));

      StackedMatrix matrix = Repacking.of(stacked, team, arena);

      assertThat(matrix.parts()).isEqualTo(stacked.parts());
      assertThat(matrix.held())
          .extracting(Tensor::type)
          .containsExactly(DataType.Q4_K, DataType.Q6_K);
      assertThat(matrix.held().getFirst()).isSameAs(stacked.parts().getFirst());
      assertThat(matrix.ownedBytes()).isEqualTo(DataType.Q6_K.bytes(5 * 512));
    }
  }

  @Test
  void leavesAloneWhatHasMachineCode() {
    try (Arena arena = Arena.ofShared();
        ThreadTeam team = new ThreadTeam(1)) {
      StackedMatrix stacked =
          StackedMatrix.of(List.of(new RandomData(arena, 2).tensor(DataType.Q8_0, 3, 64)));

      assertThat(Repacking.of(stacked, team, arena)).isSameAs(stacked);
      assertThat(stacked.ownedBytes()).isZero();
    }
  }

  @Test
  void holdsAsFloat32WhatIsTooSmallForLess() {
    try (Arena arena = Arena.ofShared();
        ThreadTeam team = new ThreadTeam(2)) {
      for (DataType type : List.of(DataType.IQ2_XXS, DataType.Q2_K)) {
        Tensor tensor = new RandomData(arena, 4).tensor(type, 3, 512);
        Tensor tiny = new RandomData(arena, 4).tensor(type, 3, 512);
        // Halves of the smallest exponent; Q2_K's stand at the end.
        for (long at = 0; at < tiny.data().byteSize(); at += type.blockBytes()) {
          long scales = type == DataType.Q2_K ? at + 80 : at;
          tiny.data().set(ValueLayout.JAVA_INT_UNALIGNED, scales, 0x0001_0001);
        }

        assertThat(
                Repacking.of(StackedMatrix.of(List.of(tensor)), team, arena)
                    .held()
                    .getFirst()
                    .type())
            .isEqualTo(Repacker.target(type));
        assertThat(
                Repacking.of(StackedMatrix.of(List.of(tiny)), team, arena).held().getFirst().type())
            .isEqualTo(DataType.F32);
      }
    }
  }

  @Test
  void holdsAsFloat32WhatIsTooLargeForLess() {
    try (Arena arena = Arena.ofShared();
        ThreadTeam team = new ThreadTeam(2)) {
      Tensor tensor = new RandomData(arena, 3).tensor(DataType.IQ3_S, 7, 512);
      // The last row's last block has the largest half, times odd numbers up to 31.
      long block = tensor.data().byteSize() - DataType.IQ3_S.blockBytes();
      tensor.data().set(ValueLayout.JAVA_SHORT_UNALIGNED, block, (short) 0x7BFF);

      StackedMatrix matrix = Repacking.of(StackedMatrix.of(List.of(tensor)), team, arena);

      Tensor held = matrix.held().getFirst();
      assertThat(held.type()).isEqualTo(DataType.F32);
      // With the attempt that failed.
      assertThat(matrix.ownedBytes()).isEqualTo(DataType.Q8_0.bytes(7 * 512) + 4 * 7 * 512);
      float[] expected = new float[7 * 512];
      Codec.of(DataType.IQ3_S).decode(tensor.data(), 0, expected, 0, expected.length);
      assertThat(held.data().toArray(ValueLayout.JAVA_FLOAT)).isEqualTo(expected);
    }
  }
}

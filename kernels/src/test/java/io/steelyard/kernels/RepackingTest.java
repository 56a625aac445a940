package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.codec.Codec;
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

      StackedMatrix matrix = Repacking.of(stacked, team);

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

      assertThat(Repacking.of(stacked, team)).isSameAs(stacked);
      assertThat(stacked.ownedBytes()).isZero();
    }
  }

  @Test
  void holdsAsFloat32WhatIsTooLargeForLess() {
    try (Arena arena = Arena.ofShared();
        ThreadTeam team = new ThreadTeam(2)) {
      Tensor tensor = new RandomData(arena, 3).tensor(DataType.MXFP4, 7, 64);
      // The exponent of the last row's last block.
      tensor.data().set(ValueLayout.JAVA_BYTE, tensor.data().byteSize() - 17, (byte) 200);

      StackedMatrix matrix = Repacking.of(StackedMatrix.of(List.of(tensor)), team);

      Tensor held = matrix.held().getFirst();
      assertThat(held.type()).isEqualTo(DataType.F32);
      assertThat(matrix.ownedBytes()).isEqualTo(4 * 7 * 64);
      float[] expected = new float[7 * 64];
      Codec.of(DataType.MXFP4).decode(tensor.data(), 0, expected, 0, expected.length);
      assertThat(held.data().toArray(ValueLayout.JAVA_FLOAT)).isEqualTo(expected);
    }
  }
}

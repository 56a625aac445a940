package io.steelyard.kernels.avx512;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.kernels.machine.Product;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where activations lie in the tiles of AMX, which not every processor can multiply. */
final class TilesTest {
  @BeforeEach
  void needsAvx512() {
    assumeTrue(Avx512.available(), "not applicable here: this processor lacks AVX-512 with BF16");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 16, 17, 31, 32, 64, 77, 81})
  void aTokensPairsFillOneRowOfEveryTile(int columns) {
    int token = 19;
    int chunks = (columns + 31) / 32;
    SplittableRandom random = new SplittableRandom(columns);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment x = arena.allocate(4L * columns, 64);
      for (int i = 0; i < columns; i++) {
        x.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) random.nextDouble(-1, 1));
      }
      MemorySegment tile = arena.allocate((long) chunks * Product.TILES.tileChunk(), 64);
      Tiles.of(Product.TILES)
          .call(x.address(), tile.address() + 64L * token, columns / 32, columns % 32, 0);

      for (int i = 0; i < 32 * chunks; i++) {
        long at = i / 32 * 2048L + 64L * token + i % 32 * 2L;
        float actual = Float.intBitsToFloat(tile.get(ValueLayout.JAVA_SHORT, at) << 16);
        float exact = i < columns ? x.getAtIndex(ValueLayout.JAVA_FLOAT, i) : 0;
        assertThat(Math.abs(actual - exact))
            .as("value %d", i)
            .isLessThanOrEqualTo(Math.abs(exact) * 0x1p-8f);
      }
      for (int other : new int[] {token - 1, token + 1}) {
        for (int chunk = 0; chunk < chunks; chunk++) {
          MemorySegment row = tile.asSlice(chunk * 2048L + 64L * other, 64);
          assertThat(row.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        }
      }
    }
  }
}

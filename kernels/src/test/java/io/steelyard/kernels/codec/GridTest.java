package io.steelyard.kernels.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GridTest {
  @ParameterizedTest
  @CsvSource({"iq2xxs, 256", "iq2xs, 512", "iq2s, 1024"})
  void pointsOfTwoBitsAreEightOfThreeMagnitudes(String name, int size) {
    assertHolds(Grid.ofEight(name + ".grid", size, 8, 25, 43), size, 8, Set.of(8, 25, 43));
  }

  @Test
  void pointsOfOneBitAreEightOfMinusOneZeroAndOne() {
    assertHolds(Grid.ofEight("iq1s.grid", 2048, -1, 0, 1), 2048, 8, Set.of(-1, 0, 1));
  }

  @Test
  void pointsOfThreeBitsAreFourOfEightMagnitudes() {
    assertHolds(
        Grid.ofFour("iq3xxs.grid", 256, 4, 12, 20, 28, 36, 44, 52, 62),
        256,
        4,
        Set.of(4, 12, 20, 28, 36, 44, 52, 62));
    assertHolds(
        Grid.ofFour("iq3s.grid", 512, 1, 3, 5, 7, 9, 11, 13, 15),
        512,
        4,
        Set.of(1, 3, 5, 7, 9, 11, 13, 15));
  }

  private static void assertHolds(Grid grid, int size, int dimension, Set<Integer> levels) {
    assertThat(grid.size()).isEqualTo(size);
    assertThat(grid.dimension()).isEqualTo(dimension);
    Set<List<Integer>> points = new HashSet<>();
    Set<Integer> used = new HashSet<>();
    for (int p = 0; p < size; p++) {
      int point = p;
      List<Integer> coordinates =
          IntStream.range(0, dimension).map(i -> grid.at(point, i)).boxed().toList();
      points.add(coordinates);
      used.addAll(coordinates);
    }
    assertThat(points).as("points that differ").hasSize(size);
    assertThat(used).isEqualTo(levels);
  }

  @Test
  void theFirstCoordinateStandsInTheLowestBits() {
    Grid grid = Grid.ofFour("iq3xxs.grid", 256, 4, 12, 20, 28, 36, 44, 52, 62);
    // The second point is written as 0002.
    assertThat(IntStream.range(0, 4).map(i -> grid.at(1, i))).containsExactly(20, 4, 4, 4);
  }

  @Test
  void aResourceOfAnotherSizeIsRefused() {
    assertThatThrownBy(() -> Grid.ofEight("iq2xs.grid", 511, 8, 25, 43))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("iq2xs.grid has 512 points instead of 511");
    assertThatThrownBy(() -> Grid.ofEight("none.grid", 1, 8, 25, 43))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("missing");
  }
}

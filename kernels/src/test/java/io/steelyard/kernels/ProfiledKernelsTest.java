package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ProfiledKernelsTest {
  @TempDir private Path folder;

  private final Arena arena = Arena.ofShared();
  private final ProfiledKernels kernels = new ProfiledKernels(Kernels.of(Tier.REFERENCE, 1));

  @AfterEach
  void close() {
    kernels.close();
    arena.close();
  }

  private void multiply(int tokens, int times) {
    RandomData data = new RandomData(arena, 1);
    Matrix matrix = kernels.prepare(List.of(data.tensor(DataType.Q8_0, 3, 32)));
    for (int i = 0; i < times; i++) {
      kernels.matmul(matrix, data.rows(tokens, 32, 32), Rows.allocate(arena, tokens, 3), tokens);
    }
  }

  @Test
  void callsAreSummedUpByOperatorTypesAndSizes() {
    multiply(1, 2);
    multiply(5, 1);
    multiply(1, 1);
    kernels.add(Rows.allocate(arena, 5, 32), Rows.allocate(arena, 5, 32), 5);

    assertThat(kernels.lines())
        .extracting(
            ProfiledKernels.Line::operator,
            ProfiledKernels.Line::kernel,
            ProfiledKernels.Line::calls,
            ProfiledKernels.Line::bytes,
            ProfiledKernels.Line::products,
            ProfiledKernels.Line::activations)
        .containsExactlyInAnyOrder(
            tuple("matmul", "Q8_0 3×32, 1 token", 3L, 3 * 3 * 34L, 3 * 3 * 32L, 3 * 4 * 35L),
            tuple("matmul", "Q8_0 3×32, 5 tokens", 1L, 3 * 34L, 3 * 32 * 5L, 5 * 4 * 35L),
            tuple("add", "32, 5 tokens", 1L, 0L, 0L, 5 * 4 * 3 * 32L));
    assertThat(kernels.lines()).allMatch(line -> line.nanos() > 0);
  }

  @Test
  void attentionReadsWhatTheCacheHolds() {
    Rows rows = Rows.allocate(arena, 7, 64);
    for (DataType type : List.of(DataType.F32, DataType.F16, DataType.Q8_0)) {
      KeyValues cache = kernels.keyValues(arena, new KeyValues.Shape(type, 2, 32, 7));
      kernels.store(cache, rows, rows, 0, 7);
      kernels.attention(rows, cache, 6, AttentionRule.causal(1), Rows.allocate(arena, 1, 64), 1);
    }

    assertThat(kernels.lines())
        .filteredOn(line -> line.operator().equals("attention"))
        .extracting(ProfiledKernels.Line::kernel, ProfiledKernels.Line::bytes)
        .containsExactlyInAnyOrder(
            tuple("F32, 1 token", 2 * 7 * 64 * 4L),
            tuple("F16, 1 token", 2 * 7 * 64 * 2L),
            tuple("Q8_0, 1 token", 2 * 7 * 2 * 34L));
  }

  @Test
  void whatRanBeforeAResetOrWithoutMeasuringDoesNotCount() {
    multiply(1, 3);
    kernels.reset();
    assertThat(kernels.lines()).isEmpty();

    kernels.measure(false);
    multiply(1, 3);
    kernels.measure(true);
    assertThat(kernels.lines()).isEmpty();

    multiply(1, 1);
    assertThat(kernels.lines()).singleElement().matches(line -> line.calls() == 1);
  }

  @Test
  void aFileGivesBackWhatWasWritten() throws IOException {
    multiply(1, 2);
    multiply(2, 2);
    Path file = folder.resolve("operators.tsv");

    ProfileFile.write(file, kernels.lines());

    assertThat(ProfileFile.read(file)).hasSize(2).isEqualTo(kernels.lines());
    ProfileFile.write(file, List.of());
    assertThat(ProfileFile.read(file)).isEmpty();
  }

  @Test
  void aFileOfSomethingElseIsRefusedByName() throws IOException {
    Path file = folder.resolve("operators.tsv");
    ProfileFile.write(file, List.of());
    String headings = Files.readString(file);
    for (String text :
        List.of("", "a\tb\n", headings + "matmul\tx\t1\n", headings + "a\tb\t1\t2\t3\tmany\n")) {
      Files.writeString(file, text);

      assertThatThrownBy(() -> ProfileFile.read(file))
          .as(text)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("operators.tsv holds no profile");
    }
  }
}

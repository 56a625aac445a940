package io.steelyard.models.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Rope;
import io.steelyard.kernels.Rows;
import io.steelyard.kernels.Tier;
import io.steelyard.models.ModelException;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.gguf.GgufFile;
import io.steelyard.models.gguf.GgufWriter;
import io.steelyard.models.gguf.Metadata;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Frequencies and magnitudes, against values worked out from the papers' formulas. */
class RopeScalingTest {
  private static final int DIMENSIONS = 16;

  @TempDir private Path directory;

  private final Map<String, Object> metadata = new LinkedHashMap<>();
  private final Map<String, float[]> tensors = new LinkedHashMap<>();

  RopeScalingTest() {
    metadata.put("general.architecture", "llama");
    metadata.put("llama.block_count", 1);
    metadata.put("llama.context_length", 128);
    metadata.put("llama.embedding_length", 4 * DIMENSIONS);
    metadata.put("llama.feed_forward_length", 48);
    metadata.put("llama.attention.head_count", 4);
    metadata.put("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  }

  private Positions read() {
    Path path = directory.resolve("model.gguf");
    GgufWriter writer = new GgufWriter(new Metadata("model.gguf", metadata));
    writer.add("other", DataType.F32, new long[] {1}, (from, part) -> part.fill((byte) 0));
    tensors.forEach(
        (name, values) ->
            writer.add(
                name,
                DataType.F32,
                new long[] {values.length},
                (from, part) -> part.copyFrom(java.lang.foreign.MemorySegment.ofArray(values))));
    writer.write(path, ProgressListener.NONE);
    try (GgufFile file = GgufFile.open(path);
        Kernels kernels = Kernels.of(Tier.REFERENCE, 1);
        Arena arena = Arena.ofConfined()) {
      return RopeScaling.read(
          new Keys(file.metadata(), "llama"),
          Config.of(file.metadata(), "llama", 50),
          new Weights(file, kernels, arena),
          Rope.Layout.SPLIT);
    }
  }

  /** Of each pair the angle at position 1, below π for all; and the magnitude. */
  private static double[] anglesAndMagnitude(Rope rope) {
    try (Arena arena = Arena.ofConfined()) {
      Rows out = rope.allocateAngles(arena, 1);
      rope.angles(1, 1, out);
      float[] row = out.row(0).toArray(ValueLayout.JAVA_FLOAT);
      double[] found = new double[DIMENSIONS / 2 + 1];
      for (int i = 0; i < DIMENSIONS / 2; i++) {
        found[i] = Math.atan2(row[DIMENSIONS / 2 + i], row[i]);
      }
      found[DIMENSIONS / 2] = Math.hypot(row[0], row[DIMENSIONS / 2]);
      return found;
    }
  }

  private static double usual(int pair) {
    return Math.pow(10_000, -2.0 * pair / DIMENSIONS);
  }

  @Test
  void linearScalingDividesPositions() {
    metadata.put("llama.rope.scaling.type", "linear");
    metadata.put("llama.rope.scaling.factor", 4f);
    double[] found = anglesAndMagnitude(read().usual());
    for (int i = 0; i < DIMENSIONS / 2; i++) {
      assertThat(found[i]).isCloseTo(usual(i) / 4, within(1e-7));
    }
    assertThat(found[DIMENSIONS / 2]).isCloseTo(1, within(1e-7));
  }

  @Test
  void yarnStretchesSlowPairsAlone() {
    metadata.put("llama.rope.scaling.type", "yarn");
    metadata.put("llama.rope.scaling.factor", 4f);
    metadata.put("llama.rope.scaling.original_context_length", 4096);
    double[] found = anglesAndMagnitude(read().usual());
    // Pairs that turn 32 times and once over 4096 positions: 2.62 and 5.63, so 2 and 6.
    for (int i = 0; i < DIMENSIONS / 2; i++) {
      double stretched = Math.clamp((i - 2) / 4.0, 0, 1);
      double expected = usual(i) * (stretched / 4 + 1 - stretched);
      assertThat(found[i]).as("pair %d", i).isCloseTo(expected, within(1e-7));
    }
    assertThat(found[DIMENSIONS / 2]).isCloseTo(1 + 0.1 * Math.log(4), within(1e-6));
  }

  @Test
  void yarnOfAnotherStrengthIsRefused() {
    metadata.put("llama.rope.scaling.type", "yarn");
    metadata.put("llama.rope.scaling.factor", 4f);
    metadata.put("llama.rope.scaling.original_context_length", 4096);
    metadata.put("llama.rope.scaling.yarn_attn_factor", 1.5f);
    assertThatThrownBy(this::read)
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("'yarn_attn_factor' of 1.5, which isn't supported");
  }

  @Test
  void longRopeHasFactorsForEachSideOfTheOriginalContext() {
    metadata.put("llama.rope.scaling.type", "longrope");
    metadata.put("llama.rope.scaling.attn_factor", 1.19f);
    metadata.put("llama.rope.scaling.original_context_length", 64);
    tensors.put("rope_factors_short.weight", new float[] {1, 1, 1, 1, 1, 1, 1, 2});
    tensors.put("rope_factors_long.weight", new float[] {1, 1, 1, 1, 1, 1, 1, 50});
    Positions positions = read();
    assertThat(positions.upTo()).isEqualTo(64);
    double[] near = anglesAndMagnitude(positions.usual());
    double[] far = anglesAndMagnitude(positions.extended());
    assertThat(near[7]).isCloseTo(usual(7) / 2, within(1e-9));
    assertThat(far[7]).isCloseTo(usual(7) / 50, within(1e-9));
    assertThat(far[0]).isEqualTo(near[0]);
    assertThat(near[8]).isCloseTo(1.19, within(1e-6));
  }
}

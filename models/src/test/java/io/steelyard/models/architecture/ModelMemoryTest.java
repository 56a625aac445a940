package io.steelyard.models.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.models.Model;
import io.steelyard.models.ModelFile;
import io.steelyard.models.Session;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What shapes predict against what a session allocates. */
class ModelMemoryTest {
  private static final Path TINY = Path.of("src/test/resources/io/steelyard/models/tiny");
  private static final int CONTEXT = 256;

  /**
   * Rows begin apart from each other and angles of rotations are kept, which small models feel
   * most: at most half as much again.
   */
  @ParameterizedTest
  @ValueSource(strings = {"llama", "qwen2", "gpt2"})
  void predictionsAreWhatIsAllocated(String name) {
    Path path = TINY.resolve(name).resolve(name + ".gguf");
    try (Kernels kernels = Kernels.of(Tier.REFERENCE, 1);
        Model model = Model.load(path, kernels);
        Session session = model.newSession(CONTEXT, DataType.F32);
        ModelFile file = ModelFile.open(path)) {
      ModelMemory predicted = ModelMemory.of(file, CONTEXT, DataType.F32, session.batch());

      assertThat(predicted.keyValues()).isEqualTo(session.cacheBytes());
      assertThat((double) session.activationBytes())
          .isBetween((double) predicted.activations(), 1.5 * predicted.activations());
      assertThat((double) model.weightBytes())
          .isBetween(0.99 * predicted.weights(), 1.05 * predicted.weights());
      assertThat(ModelMemory.of(file, CONTEXT, DataType.F16, 1).keyValues())
          .isEqualTo(predicted.keyValues() / 2);
    }
  }
}

package io.steelyard.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.models.synth.Shape;
import io.steelyard.models.synth.Synth;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class SessionTest {
  @TempDir Path directory;
  private Kernels kernels;
  private Model model;
  private Session session;

  @BeforeEach
  void load() throws IOException {
    kernels = Kernels.of(Tier.VECTOR, 2);
    model = Model.load(Golden.model("llama", directory), kernels);
    session = model.newSession(20, DataType.F16);
  }

  @AfterEach
  void close() {
    session.close();
    model.close();
    kernels.close();
  }

  @Test
  void refusesMoreTokensThanTheContextHolds() {
    session.advance(new int[15], 0, 15);
    assertThatThrownBy(() -> session.forward(new int[6], 0, 6))
        .isInstanceOf(ModelException.class)
        .hasMessage(
            "6 tokens after 15 don't fit the context of 20; load the model with a larger context");
    assertThat(session.length()).isEqualTo(15);
  }

  @Test
  void refusesIdsOutsideTheVocabulary() {
    for (int id : new int[] {-1, 320, Integer.MAX_VALUE}) {
      assertThatThrownBy(() -> session.step(id))
          .isInstanceOf(ModelException.class)
          .hasMessage("token id " + id + " is not in the model's vocabulary of 320");
    }
    assertThat(session.length()).isZero();
  }

  /** Machine-code tiers with weights of floats or of a mix of types, and types of the cache. */
  static Stream<Arguments> decoders() {
    return Stream.of(Tier.AVX2, Tier.AVX512, Tier.AMX)
        .flatMap(
            tier ->
                Stream.of(
                    Arguments.of(tier, "F32", DataType.F16),
                    Arguments.of(tier, "Q8_0", DataType.F16),
                    Arguments.of(tier, "Q8_0", DataType.Q8_0),
                    Arguments.of(tier, "Q4_K_M", DataType.F16),
                    Arguments.of(tier, "Q4_K_M", DataType.Q8_0)));
  }

  /** Wide enough for blocks of 256 weights, with heads of 32 values for a cache of q8_0. */
  private Path decoder(String weights) throws IOException {
    if (weights.equals("F32")) {
      return Golden.model("mistral", directory);
    }
    Path file = directory.resolve(weights + ".gguf");
    Shape shape =
        new Shape("tiny", "none", "llama", 2, 256, 8, 4, 256, 300, 128, 1e4f, 1e-5f, true, false);
    Synth.write(shape, Synth.mixOf(weights), 1, file, ProgressListener.NONE);
    return file;
  }

  @ParameterizedTest
  @MethodSource("decoders")
  void decodingAllocatesNothingOnTheHeap(Tier tier, String weights, DataType cache)
      throws IOException {
    assumeTrue(Kernels.available(tier), "not applicable here: no " + tier.label() + " tier");
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (Kernels machine = Kernels.of(tier, 2);
        Model loaded = Model.load(decoder(weights), machine);
        Session decoding = loaded.newSession(128, cache)) {
      long least = Long.MAX_VALUE;
      // What the JVM itself allocates while it compiles comes to an end.
      for (int round = 0; round < 500 && least > 0; round++) {
        decoding.truncate(0);
        long before = threads.getTotalThreadAllocatedBytes();
        for (int i = 0; i < 100; i++) {
          var _ = decoding.step(i);
        }
        least = Math.min(least, threads.getTotalThreadAllocatedBytes() - before);
      }
      assertThat(least).as("bytes for 100 tokens").isZero();
    }
  }

  @Test
  void refusesAnEmptyPrompt() {
    assertThatThrownBy(() -> session.forward(new int[0], 0, 0))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("no token");
    session.advance(new int[0], 0, 0);
    assertThat(session.length()).isZero();
  }

  @Test
  void cannotBeCutToMoreThanItHolds() {
    session.advance(new int[5], 0, 5);
    assertThatThrownBy(() -> session.truncate(6)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> session.truncate(-1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void sessionsOfOneModelDoNotDisturbEachOther() {
    try (Session other = model.newSession(20, DataType.F16)) {
      int[] ids = {5, 6, 7, 8, 9, 10};
      float[] expected = session.forward(ids, 0, 6).toArray(ValueLayout.JAVA_FLOAT);
      session.truncate(0);
      session.advance(ids, 0, 5);
      other.advance(new int[] {100, 200, 300}, 0, 3);
      session.truncate(0);
      float[] actual = session.forward(ids, 0, 6).toArray(ValueLayout.JAVA_FLOAT);
      assertThat(actual).isEqualTo(expected);
      assertThat(other.length()).isEqualTo(3);
    }
  }

  @Test
  void repeatedCallsGiveTheSameBits() {
    int[] ids = {5, 6, 7, 8, 9, 10, 11, 12, 13};
    float[] first = session.forward(ids, 0, 9).toArray(ValueLayout.JAVA_FLOAT);
    for (int i = 0; i < 20; i++) {
      session.truncate(0);
      assertThat(session.forward(ids, 0, 9).toArray(ValueLayout.JAVA_FLOAT)).isEqualTo(first);
    }
  }

  @Test
  void accountsForItsMemory() {
    // 3 layers × keys and values × 2 heads, 32 positions (20 rounded up) × 8 and 16 values.
    assertThat(session.cacheBytes()).isEqualTo(3L * 2 * 32 * (8 + 16) * 2);
    assertThat(session.activationBytes()).isPositive();
    assertThat(model.precision()).isEqualTo("F32");
    assertThat(model.weightBytes()).isGreaterThan(600_000);
    assertThat(model.parameters()).isEqualTo(164_288);
  }
}

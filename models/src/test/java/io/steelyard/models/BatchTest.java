package io.steelyard.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.models.sampling.Sampler;
import io.steelyard.models.sampling.Sampling;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Sequences in a batch get the tokens that they get alone. */
class BatchTest {
  private static final int CAPACITY = 100;

  @TempDir Path directory;

  /**
   * A sequence to be generated; {@code cancelled} is after how many tokens its listener ends it.
   */
  private record Wanted(int[] prompt, int tokens, Sampling sampling, int cancelled) {
    int expected() {
      return Math.min(tokens, cancelled);
    }
  }

  private static Wanted random(Random random, int vocabulary, int[] beginning) {
    int length = 1 + random.nextInt(60);
    int[] prompt = random.ints(length, 0, vocabulary).toArray();
    if (random.nextBoolean()) {
      System.arraycopy(beginning, 0, prompt, 0, Math.min(length, beginning.length));
    }
    // Warm, so that nearly any change of the logits would change the tokens.
    return new Wanted(
        prompt,
        1 + random.nextInt(CAPACITY - length),
        new Sampling(1.5f, 0, 1, 0, random.nextLong()),
        1 + random.nextInt(60));
  }

  private static int[] alone(Session session, Wanted wanted) {
    session.truncate(0);
    Sampler sampler = new Sampler(wanted.sampling());
    sampler.begin(wanted.prompt());
    MemorySegment logits = session.forward(wanted.prompt(), 0, wanted.prompt().length);
    int[] ids = new int[wanted.expected()];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = sampler.next(logits);
      logits = i + 1 < ids.length ? session.step(ids[i]) : logits;
    }
    return ids;
  }

  /** Submits at random steps, between passes. */
  private static List<BatchedSequence> together(Batch batch, List<Wanted> wanted, Random random) {
    List<BatchedSequence> sequences = new ArrayList<>();
    while (batch.step() || sequences.size() < wanted.size()) {
      for (int i = random.nextInt(3); i > 0 && sequences.size() < wanted.size(); i--) {
        Wanted next = wanted.get(sequences.size());
        int[] seen = new int[1];
        sequences.add(
            batch.submit(
                next.prompt(), next.tokens(), next.sampling(), id -> ++seen[0] < next.cancelled()));
      }
    }
    return sequences;
  }

  private void check(String name, Tier tier, DataType kv, long seed, int count) throws IOException {
    Random random = new Random(seed);
    try (Kernels kernels = Kernels.of(tier, 2, true);
        Model model = Model.load(Golden.model(name, directory), kernels);
        Session session = model.newSession(CAPACITY, kv)) {
      int vocabulary = model.config().vocabulary();
      int[] beginning = random.ints(50, 0, vocabulary).toArray();
      List<Wanted> wanted =
          IntStream.range(0, count).mapToObj(i -> random(random, vocabulary, beginning)).toList();
      List<int[]> expected = wanted.stream().map(each -> alone(session, each)).toList();
      for (boolean sharing : new boolean[] {false, true}) {
        int parallel = 1 + random.nextInt(6);
        try (Batch batch = model.newBatch(new Batch.Settings(parallel, CAPACITY, kv, sharing))) {
          List<BatchedSequence> sequences = together(batch, wanted, random);
          for (int i = 0; i < count; i++) {
            assertThat(sequences.get(i).generated())
                .as(
                    "%s, %s, %s, seed %d, sequence %d of %d, %d at a time, sharing %s",
                    name, tier, kv, seed, i, count, parallel, sharing)
                .isEqualTo(expected.get(i));
          }
        }
      }
    }
  }

  /** One of each kind of attention, positions and feed-forward part; the soak has all. */
  static Stream<Arguments> someModelsAndTiers() {
    return Stream.of("llama", "gpt2", "qwen3-moe", "gemma3", "phi3-longrope")
        .flatMap(model -> TinyModelsTest.tiers().map(tier -> Arguments.of(model, tier)));
  }

  @ParameterizedTest
  @MethodSource("someModelsAndTiers")
  void aSequenceGetsTheTokensThatItGetsAlone(String name, Tier tier) throws IOException {
    check(name, tier, DataType.F16, 1, 6);
  }

  @Tag("soak")
  @ParameterizedTest
  @MethodSource("io.steelyard.models.TinyModelsTest#modelsAndTiers")
  void soDoManySequences(String name, Tier tier) throws IOException {
    for (long seed = 2; seed < 8; seed++) {
      check(name, tier, seed % 2 == 0 ? DataType.F32 : DataType.F16, seed, 20);
    }
  }

  private void with(Batch.Settings settings, Consumer<Batch> body) throws IOException {
    try (Kernels kernels = Kernels.of(Tier.REFERENCE, 1);
        Model model = Model.load(Golden.model("llama", directory), kernels);
        Batch batch = model.newBatch(settings)) {
      body.accept(batch);
    }
  }

  @Test
  void sequencesJoinFromAListenerAndLeaveWhenCancelled() throws IOException {
    with(
        new Batch.Settings(2, 40, DataType.F16, false),
        batch -> {
          List<BatchedSequence> all = new ArrayList<>();
          BatchedSequence endless = batch.submit(new int[] {1, 2}, 39, Sampling.GREEDY, id -> true);
          all.add(
              batch.submit(
                  new int[] {3},
                  4,
                  Sampling.GREEDY,
                  id -> {
                    if (all.size() == 1) {
                      all.add(batch.submit(new int[] {4}, 3, Sampling.GREEDY, next -> true));
                    }
                    return true;
                  }));
          batch.step();
          assertThat(batch.unfinished()).isEqualTo(3);
          endless.cancel();
          batch.run();
          assertThat(batch.unfinished()).isZero();
          assertThat(endless.generated()).hasSize(1);
          assertThat(all).extracting(each -> each.generated().length).containsExactly(4, 3);
        });
  }

  @Test
  void aSharedBeginningIsProcessedOnce() throws IOException {
    int[] beginning = new Random(5).ints(300, 0, 100).toArray();
    for (boolean sharing : new boolean[] {false, true}) {
      with(
          new Batch.Settings(4, 320, DataType.F16, sharing),
          batch -> {
            for (int i = 0; i < 4; i++) {
              int[] prompt = Arrays.copyOf(beginning, 301);
              prompt[300] = i;
              batch.submit(prompt, 1, Sampling.GREEDY, id -> true);
            }
            int passes = 0;
            while (batch.step()) {
              passes++;
            }
            // 1204 tokens are 4.7 pieces; shared, 301 tokens are two, and the rest comes in one.
            assertThat(passes).isEqualTo(sharing ? 3 : 5);
          });
    }
  }

  @Test
  void whatCannotRunIsRefused() throws IOException {
    with(
        new Batch.Settings(1, 10, DataType.F16, false),
        batch -> {
          assertThatThrownBy(() -> batch.submit(new int[0], 1, Sampling.GREEDY, id -> true))
              .isInstanceOf(ModelException.class)
              .hasMessage("the prompt is empty: give at least one token");
          assertThatThrownBy(() -> batch.submit(new int[5], 7, Sampling.GREEDY, id -> true))
              .isInstanceOf(ModelException.class)
              .hasMessage(
                  "7 tokens after a prompt of 5 don't fit the 10 positions of a sequence; make the batch with more");
          assertThatThrownBy(() -> batch.submit(new int[] {-1}, 1, Sampling.GREEDY, id -> true))
              .isInstanceOf(ModelException.class)
              .hasMessageContaining("token id -1 is not in the model's vocabulary");
          assertThat(batch.step()).isFalse();
        });
    try (Kernels kernels = Kernels.of(Tier.REFERENCE, 1);
        Model model = Model.load(Golden.model("dream", directory), kernels)) {
      assertThatThrownBy(() -> model.newBatch(2, 10))
          .isInstanceOf(ModelException.class)
          .hasMessageContaining("use DiffusionDecoder");
    }
  }
}

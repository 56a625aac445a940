package io.steelyard.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.Tier;
import io.steelyard.models.gguf.GgufFile;
import io.steelyard.models.sampling.Sampler;
import io.steelyard.models.speculation.Speculation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What is generated with drafts is what is generated without, to the bit. */
class SpeculationTest {
  private static final int CAPACITY = 300;

  @TempDir Path directory;

  static Stream<Arguments> modelsAndTiers() {
    return Stream.of("llama", "llama-tied", "mistral")
        .flatMap(model -> tiers().map(tier -> Arguments.of(model, tier)));
  }

  static Stream<Tier> tiers() {
    return Arrays.stream(Tier.values()).filter(Kernels::available);
  }

  /** Tokens with the logits that each was chosen from. */
  private record Generated(List<Integer> ids, List<float[]> logits) {
    Generated() {
      this(new ArrayList<>(), new ArrayList<>());
    }

    int choose(MemorySegment row) {
      int id = Sampler.argmax(row);
      ids.add(id);
      logits.add(row.toArray(ValueLayout.JAVA_FLOAT));
      return id;
    }

    void assertSame(Generated other) {
      assertThat(ids).isEqualTo(other.ids);
      for (int i = 0; i < logits.size(); i++) {
        assertThat(logits.get(i)).as("logits of token %d", i).isEqualTo(other.logits.get(i));
      }
    }
  }

  private interface Body {
    void run(Session session);
  }

  private void with(Path file, Tier tier, int capacity, Body body) {
    try (Kernels kernels = Kernels.of(tier, 2);
        Model model = Model.load(file, kernels);
        Session session = model.newSession(capacity, DataType.F16)) {
      body.run(session);
    }
  }

  /**
   * A tiny model whose attention adds next to nothing. The next token then hangs on the last one
   * almost alone, so greedy decoding soon runs in circles; but every logit still depends on all
   * that came before.
   */
  private Path circling(String name) throws IOException {
    Path file = Golden.model(name, directory);
    try (Arena arena = Arena.ofConfined();
        FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MemorySegment data = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena);
      GgufFile gguf = GgufFile.of(data, name);
      ValueLayout.OfFloat value = ValueLayout.JAVA_FLOAT_UNALIGNED;
      for (String tensorName : gguf.tensorNames()) {
        if (tensorName.endsWith("attn_output.weight")) {
          Tensor tensor = gguf.require(tensorName);
          long begin = tensor.data().address() - data.address();
          for (long at = begin; at < begin + tensor.data().byteSize(); at += Float.BYTES) {
            data.set(value, at, 0.01f * data.get(value, at));
          }
        }
      }
    }
    return file;
  }

  private static int[] prompt(long seed, int length) {
    return new Random(seed).ints(length, 3, 320).toArray();
  }

  private static Generated plain(Session session, int[] prompt, int tokens) {
    session.truncate(0);
    session.advance(prompt, 0, prompt.length - 1);
    Generated generated = new Generated();
    int id = prompt[prompt.length - 1];
    for (int i = 0; i < tokens; i++) {
      id = generated.choose(session.step(id));
    }
    return generated;
  }

  /** Generates with drafts; checks after each pass that the cache holds what was accepted. */
  private static Generated speculative(
      Session session, Speculation speculation, int[] prompt, int tokens) {
    session.truncate(0);
    session.advance(prompt, 0, prompt.length - 1);
    speculation.begin(prompt, prompt.length - 1);
    Generated generated = new Generated();
    int id = prompt[prompt.length - 1];
    while (generated.ids.size() < tokens) {
      speculation.<RuntimeException>pass(
          id,
          tokens - generated.ids.size(),
          (logits, draft) -> generated.choose(logits) == draft && generated.ids.size() < tokens);
      id = generated.ids.getLast();
      assertThat(session.length()).isEqualTo(prompt.length - 1 + generated.ids.size());
    }
    return generated;
  }

  @ParameterizedTest
  @MethodSource("modelsAndTiers")
  void aTextThatRepeatsIsTheSameInFewerPasses(String name, Tier tier) throws IOException {
    with(
        circling(name),
        tier,
        CAPACITY,
        session -> {
          Speculation speculation = new Speculation(session);
          Generated expected = plain(session, prompt(1, 8), 120);

          Generated actual = speculative(session, speculation, prompt(1, 8), 120);

          actual.assertSame(expected);
          assertThat(speculation.accepted()).isBetween(40L, speculation.drafted());
        });
  }

  @ParameterizedTest
  @MethodSource("modelsAndTiers")
  void aTextThatAttendsToItsWholePastIsTheSame(String name, Tier tier) throws IOException {
    with(
        Golden.model(name, directory),
        tier,
        CAPACITY,
        session -> {
          Speculation speculation = new Speculation(session);
          // A phrase given three times: drafts are made from the first token on, right or wrong.
          int[] phrase = prompt(2, 12);
          int[] repeated = IntStream.range(0, 36).map(i -> phrase[i % 12]).toArray();
          Generated expected = plain(session, repeated, 100);

          Generated actual = speculative(session, speculation, repeated, 100);

          actual.assertSame(expected);
          assertThat(speculation.drafted()).isPositive();
        });
  }

  @ParameterizedTest
  @MethodSource("tiers")
  void aPromptWithoutRepetitionIsTheSame(Tier tier) throws IOException {
    with(
        Golden.model("llama", directory),
        tier,
        CAPACITY,
        session -> {
          Speculation speculation = new Speculation(session);
          int[] distinct = IntStream.range(3, 103).toArray();
          Generated expected = plain(session, distinct, 40);

          speculative(session, speculation, distinct, 40).assertSame(expected);
        });
  }

  @ParameterizedTest
  @MethodSource("tiers")
  void draftsEndWithTheContext(Tier tier) throws IOException {
    Path file = circling("llama");
    int[] circle = new int[60];
    with(
        file,
        tier,
        CAPACITY,
        session -> {
          List<Integer> ids = plain(session, prompt(1, 8), 120).ids;
          Arrays.setAll(circle, i -> ids.get(60 + i));
        });
    for (int room = 0; room <= 6; room++) {
      int tokens = room + 1; // the last one is never put into the cache
      with(
          file,
          tier,
          circle.length + room,
          session -> {
            Speculation speculation = new Speculation(session);
            Generated expected = plain(session, circle, tokens);

            Generated actual = speculative(session, speculation, circle, tokens);

            actual.assertSame(expected);
            assertThat(session.length()).isEqualTo(session.capacity());
            assertThatThrownBy(
                    () -> speculation.<RuntimeException>pass(5, 9, (logits, draft) -> true))
                .isInstanceOf(ModelException.class)
                .hasMessageContaining("don't fit the context");
          });
    }
  }

  @ParameterizedTest
  @MethodSource("tiers")
  void aDraftIsCutToWhatTheCacheHasRoomFor(Tier tier) throws IOException {
    with(
        circling("llama"),
        tier,
        127,
        session -> {
          int[] prompt = prompt(1, 8);
          Generated expected = plain(session, prompt, 120);
          session.truncate(0);
          session.advance(prompt, 0, prompt.length - 1);
          Speculation speculation = new Speculation(session);
          speculation.begin(prompt, prompt.length - 1);
          Generated actual = new Generated();
          int id = prompt[prompt.length - 1];

          // Nobody says that fewer tokens are wanted, and in a circle drafts are long.
          while (session.length() < session.capacity()) {
            speculation.<RuntimeException>pass(
                id, 1_000, (logits, draft) -> actual.choose(logits) == draft);
            id = actual.ids.getLast();
          }

          actual.assertSame(expected);
          assertThat(speculation.accepted()).isGreaterThan(40);
        });
  }

  @ParameterizedTest
  @MethodSource("tiers")
  void aGenerationThatEndsInsideADraftKeepsNothingAfterIt(Tier tier) throws IOException {
    with(
        circling("llama"),
        tier,
        CAPACITY,
        session -> {
          int[] prompt = prompt(1, 8);
          int next = plain(session, prompt, 121).ids.getLast();
          Speculation speculation = new Speculation(session);
          int last = speculative(session, speculation, prompt, 120).ids.getLast();
          long earlier = speculation.drafted();
          List<Integer> ids = new ArrayList<>();
          List<Integer> drafts = new ArrayList<>();

          // The draft is right and long, but generation ends with its first token.
          speculation.<RuntimeException>pass(
              last,
              12,
              (logits, draft) -> {
                ids.add(Sampler.argmax(logits));
                drafts.add(draft);
                return false;
              });

          assertThat(speculation.drafted() - earlier).isGreaterThan(1);
          assertThat(ids).containsExactly(next);
          assertThat(drafts).containsExactly(next);
          assertThat(session.length()).isEqualTo(prompt.length + 120);
        });
  }

  @ParameterizedTest
  @MethodSource("modelsAndTiers")
  void fewTokensTogetherGiveTheBitsOfSingleSteps(String name, Tier tier) throws IOException {
    with(
        Golden.model(name, directory),
        tier,
        CAPACITY,
        session -> {
          // Positions from 60 on cross a border of the tiles in which attention is computed.
          int[] ids = prompt(4, 60 + session.fewTokens());
          for (int from : new int[] {0, 1, 60}) {
            int to = from + session.fewTokens();
            session.truncate(0);
            session.advance(ids, 0, from);
            List<float[]> together = new ArrayList<>();
            session.<RuntimeException>forward(
                ids, from, to, row -> together.add(row.toArray(ValueLayout.JAVA_FLOAT)));
            session.truncate(from);
            for (int i = from; i < to; i++) {
              float[] alone = session.step(ids[i]).toArray(ValueLayout.JAVA_FLOAT);
              assertThat(together.get(i - from)).as("position %d", i).isEqualTo(alone);
            }
          }
        });
  }
}

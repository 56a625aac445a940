package io.steelyard.models.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class PenaltiesTest {
  private static int[] greedy(Penalties penalties, int[] prompt, int tokens, float... logits) {
    Sampler sampler = new Sampler(new Sampling(0, 0, 1, 1, 0, penalties, 0));
    sampler.begin(prompt);
    int[] ids = new int[tokens];
    Arrays.setAll(ids, i -> sampler.next(MemorySegment.ofArray(logits)));
    return ids;
  }

  @Test
  void repetitionDividesPositiveAndMultipliesNegativeLogits() {
    Penalties penalties = new Penalties(2, 4, 0, 0);

    assertThat(penalties.penalised(3, 1)).isEqualTo(1.5f);
    assertThat(penalties.penalised(-3, 1)).isEqualTo(-6);
    assertThat(penalties.penalised(3, 5)).as("however often it was seen").isEqualTo(1.5f);
    assertThat(penalties.penalised(Float.NEGATIVE_INFINITY, 1)).isEqualTo(Float.NEGATIVE_INFINITY);
  }

  @Test
  void frequencyCountsAndPresenceDoesNot() {
    assertThat(new Penalties(1, 4, 0.5f, 0).penalised(3, 4)).isEqualTo(1);
    assertThat(new Penalties(1, 4, 0, 0.5f).penalised(3, 4)).isEqualTo(2.5f);
    assertThat(new Penalties(2, 4, 0.25f, 0.5f).penalised(-1, 2)).isEqualTo(-3);
  }

  @Test
  void onlyTheLastTokensCount() {
    // Ids 0, 1, 2 have 3, 2.5 and 2; one seen loses 2.
    Penalties one = new Penalties(1, 1, 0, 2);
    Penalties two = new Penalties(1, 2, 0, 2);

    assertThat(greedy(one, new int[0], 4, 3, 2.5f, 2)).containsExactly(0, 1, 0, 1);
    assertThat(greedy(two, new int[0], 6, 3, 2.5f, 2)).containsExactly(0, 1, 2, 0, 1, 2);
  }

  @Test
  void theWholeTextCountsWhereThatIsAskedFor() {
    // 0.5 is lost each time: 3 2.5 2 1.5 1 against 2.4 1.9 1.4.
    assertThat(greedy(new Penalties(1, Penalties.ALL, 0.5f, 0), new int[0], 7, 3, 2.4f))
        .containsExactly(0, 0, 1, 0, 1, 0, 1);
  }

  @Test
  void thePromptIsSeen() {
    Penalties penalties = new Penalties(1, 2, 0, 2);

    assertThat(greedy(penalties, new int[] {2, 0, 1}, 1, 3, 2.5f, 2)).containsExactly(2);
    assertThat(greedy(penalties, new int[] {0, 1, 2}, 1, 3, 2.5f, 2)).containsExactly(0);
  }

  @Test
  void anotherTextBeginsUnseen() {
    Sampler sampler = new Sampler(new Sampling(0, 0, 1, 1, 0, new Penalties(1, 3, 0, 2), 0));
    MemorySegment logits = MemorySegment.ofArray(new float[] {3, 2.5f, 2});
    sampler.begin(new int[] {0});
    assertThat(sampler.next(logits)).isEqualTo(1);

    sampler.begin(new int[0]);

    assertThat(sampler.next(logits)).isZero();
  }

  @Test
  void negativePenaltiesFavour() {
    assertThat(greedy(new Penalties(1, 1, 0, -1), new int[] {1}, 2, 3, 2.5f)).containsExactly(1, 1);
  }

  @Test
  void thereIsNothingToDoWithoutAWindowOrWithoutAPenalty() {
    assertThat(new Penalties(2, 0, 1, 1).none()).isTrue();
    assertThat(new Penalties(1, 64, 0, 0).none()).isTrue();
    assertThat(new Penalties(1, Penalties.ALL, 0, 0.1f).none()).isFalse();
  }

  @Test
  void absurdSettingsAreRefusedWithTheirName() {
    assertThatThrownBy(() -> new Penalties(0, 64, 0, 0)).hasMessageStartingWith("repeat-penalty 0");
    assertThatThrownBy(() -> new Penalties(1, -2, 0, 0)).hasMessageStartingWith("repeat-last -2");
    assertThatThrownBy(() -> new Penalties(1, 2_000_000, 0, 0))
        .hasMessageContaining("-1 is the whole text");
    assertThatThrownBy(() -> new Penalties(1, 64, Float.NaN, 0))
        .hasMessageStartingWith("frequency-penalty NaN");
    assertThatThrownBy(() -> new Penalties(1, 64, 0, Float.POSITIVE_INFINITY))
        .hasMessageStartingWith("presence-penalty Infinity");
  }
}

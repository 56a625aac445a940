package io.steelyard.models.speculation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PromptLookupTest {
  private static PromptLookup of(int... text) {
    PromptLookup lookup = new PromptLookup(10_000);
    for (int id : text) {
      lookup.add(id);
    }
    return lookup;
  }

  private static int[] draft(PromptLookup lookup, int most) {
    int[] into = new int[most + 1];
    int count = lookup.draft(into, 1, most);
    return Arrays.copyOfRange(into, 1, 1 + count);
  }

  /** Makes the next draft as long as it may get. */
  private static PromptLookup bold(PromptLookup lookup) {
    for (int i = 0; i < 10; i++) {
      lookup.learn(1, 1);
    }
    return lookup;
  }

  @Test
  void draftsWhatFollowedTheSameTokens() {
    assertThat(draft(bold(of(1, 2, 3, 4, 5, 6, 7, 1, 2, 3)), 4)).containsExactly(4, 5, 6, 7);
  }

  @Test
  void draftsNothingWhereNothingRepeats() {
    assertThat(draft(of(), 4)).isEmpty();
    assertThat(draft(of(1), 4)).isEmpty();
    assertThat(draft(of(1, 2, 3), 4)).isEmpty();
    assertThat(draft(of(1, 2, 3, 4, 5, 6), 4)).isEmpty();
  }

  @Test
  void twoTokensAlikeAreNotEnough() {
    assertThat(draft(bold(of(1, 2, 3, 4, 9, 2, 3)), 4)).isEmpty();
    assertThat(draft(bold(of(1, 2, 3, 4, 1, 2, 3)), 4)).isNotEmpty();
  }

  @Test
  void theFirstDraftIsShortAndAsksForALongerMatch() {
    assertThat(draft(of(1, 2, 3, 4, 5, 1, 2, 3), 4)).isEmpty();
    assertThat(draft(of(1, 2, 3, 4, 5, 1, 2, 3, 4), 4)).containsExactly(5);
  }

  @Test
  void theLongestMatchWinsOverANearerOne() {
    PromptLookup lookup = bold(of(9, 1, 2, 3, 50, 8, 1, 2, 3, 60, 9, 1, 2, 3));
    assertThat(draft(lookup, 1)).containsExactly(50);
  }

  @Test
  void ofEqualMatchesTheNearestWins() {
    PromptLookup lookup = bold(of(7, 1, 2, 3, 50, 8, 1, 2, 3, 60, 9, 1, 2, 3));
    assertThat(draft(lookup, 1)).containsExactly(60);
  }

  @Test
  void aDraftThatReachesTheEndOfTheTextGoesOnInCircles() {
    assertThat(draft(bold(of(5, 1, 2, 1, 2, 1)), 5)).containsExactly(2, 1, 2, 1, 2);
    assertThat(draft(bold(of(4, 4, 4, 4)), 5)).containsExactly(4, 4, 4, 4, 4);
  }

  @Test
  void givesNoMoreThanIsAskedFor() {
    PromptLookup lookup = bold(of(1, 2, 3, 4, 5, 6, 1, 2, 3));
    int[] into = {-7, -7, -7, -7, -7};
    assertThat(lookup.draft(into, 1, 2)).isEqualTo(2);
    assertThat(into).containsExactly(-7, 4, 5, -7, -7);
    assertThat(lookup.draft(into, 0, 0)).isZero();
    assertThat(lookup.draft(into, 0, -1)).isZero();
    assertThat(into).containsExactly(-7, 4, 5, -7, -7);
  }

  @Test
  void rightDraftsGrowAndAPartlyRightOneIsCutToWhatWasRight() {
    PromptLookup lookup = of(IntStream.range(0, 200).map(i -> i % 50).toArray());
    assertThat(draft(lookup, 40)).hasSize(PromptLookup.FIRST_DRAFT);
    lookup.learn(1, 1);
    assertThat(draft(lookup, 40)).hasSize(2);
    lookup.learn(2, 2);
    assertThat(draft(lookup, 40)).hasSize(4);
    lookup.learn(4, 4);
    assertThat(draft(lookup, 40)).hasSize(8);
    lookup.learn(8, 3);
    assertThat(draft(lookup, 40)).hasSize(3);
    lookup.learn(3, 0);
    assertThat(draft(lookup, 40)).hasSize(1);
  }

  @Test
  void wrongDraftsAskForALongerMatchAndRightOnesForAShorterAgain() {
    // Ends in four tokens that were there before.
    PromptLookup lookup = of(1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4);
    assertThat(draft(lookup, 1)).containsExactly(5);
    lookup.learn(1, 0);
    for (int id = 5; id < 8; id++) {
      assertThat(draft(lookup, 1)).isEmpty();
      lookup.add(id);
    }
    assertThat(draft(lookup, 1)).isEmpty();
    lookup.add(8);
    assertThat(draft(lookup, 1)).containsExactly(9);
    lookup.learn(1, 1);
    lookup.learn(1, 1);
    IntStream.of(99, 1, 2, 3).forEach(lookup::add);
    assertThat(draft(lookup, 1)).containsExactly(4);
  }

  @Test
  void textThatRepeatsWithoutEverComingTrueCostsFewTokens() {
    // Four tokens stand together again and again, and what follows is always new.
    long seed = 11;
    Random random = new Random(seed);
    PromptLookup lookup = new PromptLookup(5_000);
    int wrong = 0;
    for (int i = 0; i < 1_000; i++) {
      for (int id : new int[] {1, 2, 3, 4, 100 + random.nextInt(1 << 30)}) {
        int[] draft = draft(lookup, 15);
        if (draft.length > 0) {
          int right = draft[0] == id ? 1 : 0;
          wrong += draft.length - right;
          lookup.learn(draft.length, right);
        }
        lookup.add(id);
      }
    }
    assertThat(wrong).as("seed %d", seed).isBetween(1, 3);
  }

  @Test
  void findsTheLongestMatchAmongTheNearestPlacesAsASearchOfTheWholeTextDoes() {
    for (long seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      int[] text = random.ints(300, 0, 6).toArray();
      PromptLookup lookup = bold(new PromptLookup(text.length));
      for (int length = 1; length <= text.length; length++) {
        lookup.add(text[length - 1]);
        int place = search(text, length);
        int[] expected = place < 0 ? new int[0] : new int[] {text[place + 1]};
        assertThat(draft(lookup, 1)).as("seed %d, length %d", seed, length).isEqualTo(expected);
      }
    }
  }

  /** Where the longest match ends, of the nearest places where three tokens match; or -1. */
  private static int search(int[] text, int length) {
    int best = -1;
    int longest = PromptLookup.SHORTEST - 1;
    int places = 0;
    for (int end = length - 2; end >= 0 && places < PromptLookup.PLACES; end--) {
      int match = 0;
      while (match < PromptLookup.LONGEST
          && match <= end
          && text[end - match] == text[length - 1 - match]) {
        match++;
      }
      places += match >= PromptLookup.SHORTEST ? 1 : 0;
      if (match > longest) {
        longest = match;
        best = end;
      }
    }
    return best;
  }

  @Test
  void aNewTextKnowsNothingOfTheLast() {
    PromptLookup lookup = of(1, 2, 3, 4, 1, 2, 3);
    lookup.begin();
    assertThat(lookup.length()).isZero();
    IntStream.of(1, 2, 3).forEach(lookup::add);
    assertThat(draft(lookup, 4)).isEmpty();
  }

  @Test
  void takesTextsOfEverySizeUpToItsCapacity() {
    for (int capacity : new int[] {1, 2, 3, 4, 1_000}) {
      PromptLookup lookup = new PromptLookup(capacity);
      for (int i = 0; i < capacity; i++) {
        lookup.add(i);
      }
      assertThat(lookup.length()).isEqualTo(capacity);
      assertThatThrownBy(() -> lookup.add(0)).isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThatThrownBy(() -> new PromptLookup(0)).isInstanceOf(IllegalArgumentException.class);
  }
}

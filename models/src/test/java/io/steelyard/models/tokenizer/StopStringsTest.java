package io.steelyard.models.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class StopStringsTest {
  /** What is shown after each piece, and at the end. */
  private static List<String> shown(List<String> stops, String... pieces) {
    StopStrings stream = new StopStrings(stops);
    List<String> shown = new ArrayList<>();
    for (String piece : pieces) {
      shown.add(stream.push(piece));
    }
    shown.add(stream.flush());
    return shown;
  }

  @Test
  void withoutStopStringsAllIsShownAtOnce() {
    assertThat(shown(List.of(), "a", "", "bc")).containsExactly("a", "", "bc", "");
  }

  @Test
  void aStopStringOverSeveralPiecesIsNeverShownInPart() {
    assertThat(shown(List.of("###"), "one #", "#", "# two", "three"))
        .containsExactly("one ", "", "", "", "");
  }

  @Test
  void whatOnlyLookedLikeAStopStringIsShownLater() {
    assertThat(shown(List.of("User:"), "a Us", "e", "ful Use"))
        .containsExactly("a ", "", "Useful ", "Use");
  }

  @Test
  void aBeginningInsideOfABeginningIsHeldBackOnItsOwn() {
    // "aab" is in "aaab", one character later than where a plain restart would look.
    assertThat(shown(List.of("aab"), "a", "a", "a", "b!")).containsExactly("", "", "a", "", "");
  }

  @Test
  void theFirstToBeCompleteEndsAndOfThoseTheLongest() {
    assertThat(shown(List.of("abc", "b"), "xabc")).containsExactly("xa", "");
    assertThat(shown(List.of("c", "bc"), "xabc")).containsExactly("xa", "");
  }

  @Test
  void charactersOfTwoCodeUnitsStayWhole() {
    // 😀 and 😁 share their first code unit.
    assertThat(shown(List.of("😀!"), "😁", "😀", "?", "😀!"))
        .containsExactly("😁", "", "😀?", "", "");
  }

  @Test
  void howATextIsCutMakesNoDifference() {
    long seed = 20260301;
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 2_000; round++) {
      List<String> stops = new ArrayList<>();
      for (int i = 0; i <= random.nextInt(3); i++) {
        stops.add(word(random, 1 + random.nextInt(4)));
      }
      String text = word(random, random.nextInt(30));
      int end = text.length();
      int complete = text.length() + 1;
      for (String stop : stops) {
        int at = text.indexOf(stop);
        int stopEnd = at + stop.length();
        if (at >= 0 && (stopEnd < complete || (stopEnd == complete && at < end))) {
          complete = stopEnd;
          end = at;
        }
      }
      StopStrings stream = new StopStrings(stops);
      StringBuilder shown = new StringBuilder();
      for (int at = 0; at < text.length(); ) {
        int next = Math.min(text.length(), at + random.nextInt(4));
        shown.append(stream.push(text.substring(at, next)));
        assertThat(text.substring(0, end)).startsWith(shown);
        at = next;
      }
      shown.append(stream.flush());
      assertThat(shown.toString())
          .as("seed %d, round %d: %s in %s", seed, round, stops, text)
          .isEqualTo(text.substring(0, end));
      assertThat(stream.found()).isEqualTo(complete <= text.length());
    }
  }

  private static String word(SplittableRandom random, int length) {
    StringBuilder word = new StringBuilder();
    for (int i = 0; i < length; i++) {
      word.append((char) ('a' + random.nextInt(2)));
    }
    return word.toString();
  }

  @Test
  void anEmptyStopStringIsRefused() {
    assertThatThrownBy(() -> new StopStrings(List.of("a", ""))).hasMessageContaining("is empty");
  }
}

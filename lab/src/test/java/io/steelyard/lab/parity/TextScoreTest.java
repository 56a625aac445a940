package io.steelyard.lab.parity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class TextScoreTest {
  private static MemorySegment of(double... probabilities) {
    MemorySegment logits = MemorySegment.ofArray(new byte[probabilities.length * Float.BYTES]);
    for (int i = 0; i < probabilities.length; i++) {
      // A constant shift of a row's logits changes no probability.
      logits.set(Logits.FLOAT, (long) i * Float.BYTES, (float) (Math.log(probabilities[i]) + 3));
    }
    return logits;
  }

  @Test
  void perplexityIsTheGeometricMeanOfInverseProbabilities() {
    // Tokens 1, 0 and 1 follow, with 1/4, 1/2 and 1/8.
    TextScore score =
        TextScore.over(2)
            .add(of(0.75, 0.25, 0.5, 0.5), new int[] {0, 1, 0})
            .add(of(0.875, 0.125), new int[] {0, 1})
            .score();

    assertThat(score.tokens()).isEqualTo(3);
    // Logits are float32, of a relative precision of 6e-8 at 3.
    assertThat(score.perplexity()).isCloseTo(4, within(1e-6));
    // Bits 2, 1 and 3: a standard deviation of 1, so an error of the mean of ln 2 / √3.
    assertThat(score.error()).isCloseTo(4 * Math.log(2) / Math.sqrt(3), within(1e-6));
  }

  @Test
  void oneTokenHasNoError() {
    assertThat(TextScore.over(2).add(of(0.5, 0.5), new int[] {0, 1}).score().error()).isNaN();
  }

  @Test
  void aLogitThatIsNoNumberLeavesNoPerplexity() {
    assertThat(TextScore.over(2).add(of(0.5, Double.NaN), new int[] {0, 1}).score().perplexity())
        .isNaN();
  }

  @Test
  void sizesThatDisagreeAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TextScore.over(2).add(of(0.5, 0.5), new int[] {0, 1, 1}))
        .withMessageContaining("8 bytes");
  }

  @Test
  void aTextIsCutIntoWholeWindows() {
    int[] text = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

    assertThat(TextWindows.cut(text, 5, OptionalInt.empty()).windows())
        .containsExactly(new int[] {1, 2, 3, 4, 5}, new int[] {6, 7, 8, 9, 10});
    assertThat(TextWindows.cut(text, 6, OptionalInt.of(99)).windows())
        .as("the token for the start of a text stands before it, and before each window")
        .containsExactly(new int[] {99, 1, 2, 3, 4, 5}, new int[] {99, 7, 8, 9, 10, 11});
    assertThat(TextWindows.cut(text, 12, OptionalInt.empty()).windows()).containsExactly(text);
  }

  @Test
  void aTextWithoutAWindowIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TextWindows.cut(new int[7], 8, OptionalInt.empty()))
        .withMessage("7 tokens hold no window of 8");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TextWindows.cut(new int[7], 4, OptionalInt.empty()));
  }
}

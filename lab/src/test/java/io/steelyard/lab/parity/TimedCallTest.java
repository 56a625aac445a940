package io.steelyard.lab.parity;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.parity.EngineParity.Output;
import org.junit.jupiter.api.Test;

class TimedCallTest {
  private static final Output OUTPUT = new Output(new int[] {1, 2}, new float[] {0.5f, 0.5f}, 7);

  private static boolean matches(Output output) {
    return new TimedCall(10, 20, output).matches(OUTPUT);
  }

  @Test
  void theSameIdsAndChecksumMatchWhateverTheMargins() {
    assertThat(matches(new Output(new int[] {1, 2}, new float[0], 7))).isTrue();
  }

  @Test
  void anotherIdLengthOrChecksumDoesNot() {
    assertThat(matches(new Output(new int[] {1, 3}, new float[0], 7))).isFalse();
    assertThat(matches(new Output(new int[] {1}, new float[0], 7))).isFalse();
    assertThat(matches(new Output(new int[] {1, 2, 2}, new float[0], 7))).isFalse();
    assertThat(matches(new Output(new int[] {1, 2}, new float[0], 8))).isFalse();
  }

  @Test
  void aCallTooShortForTheEnginesClockTakesItsSmallestStep() {
    assertThat(new TimedCall(0, 20, OUTPUT).nanos()).isEqualTo(1);
    assertThat(new TimedCall(15, 20, OUTPUT).nanos()).isEqualTo(15);
  }
}

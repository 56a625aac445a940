package io.steelyard.engines.steelyard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.steelyard.lab.worker.EngineException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlowdownTest {
  @Test
  void aPassTakesLongerByTheShareOfItsOwnTime() throws EngineException {
    long start = System.nanoTime() - 10_000_000;

    Slowdown.of("0.5").since(start);

    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(15_000_000);
    assertThat(Slowdown.of("0.05").description()).isEqualTo(", slowed by 5.00 %");
    assertThat(Slowdown.NONE.description()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"-0.1", "11", "NaN", "5%", ""})
  void anythingElseIsRefused(String text) {
    assertThatExceptionOfType(EngineException.class)
        .isThrownBy(() -> Slowdown.of(text))
        .withMessage(
            "steelyard: slowdown must be a share from 0 to 10, such as 0.05, not '%s'", text);
  }
}

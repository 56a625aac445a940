package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.worker.LoadReport;
import org.junit.jupiter.api.Test;

final class ParityCommandTest {
  private static LoadReport.Settings settings(int vocabulary, int layers) {
    return new LoadReport.Settings(
        "F32", "f32", "f32", 1, "0", 512, 256, true, vocabulary, layers, 0);
  }

  @Test
  void modelsOfDifferentShapesAreToldApartInOneSentence() {
    assertThat(ParityCommand.differentShapes(settings(320, 2), settings(512, 4)))
        .isEqualTo(
            "the two models differ in shape, so nothing can be compared: 320 against 512 logits a"
                + " position, 2 against 4 layers");
  }

  @Test
  void anEngineThatCannotTellItsLayersMayBeCompared() {
    assertThat(ParityCommand.differentShapes(settings(320, 2), settings(320, 0))).isEmpty();
    assertThat(ParityCommand.differentShapes(settings(320, 2), settings(320, 2))).isEmpty();
  }
}

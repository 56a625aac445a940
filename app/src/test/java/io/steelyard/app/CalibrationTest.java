package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Roofline;
import io.steelyard.lab.RunException;
import io.steelyard.lab.calibration.Noise;
import io.steelyard.lab.study.Limits;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is kept of a machine, and what a run takes from it. */
final class CalibrationTest {
  private static final Roofline TWO = new Roofline(2, 20e9, Map.of("int8", 700e9, "f32", 180e9));

  @TempDir private Path cache;
  private Calibration calibration;
  private Path model;

  @BeforeEach
  void copyModel() throws IOException {
    calibration = Calibration.of(cache);
    model = cache.resolve("tiny.gguf");
    try (InputStream in = CalibrationTest.class.getResourceAsStream("llama-tied.gguf")) {
      Files.copy(in, model);
    }
  }

  @Test
  void aRooflineIsKeptByItsNumberOfThreadsAndReplacedAsAWhole() throws IOException {
    Roofline faster = new Roofline(2, 25e9, Map.of());
    Roofline one = new Roofline(1, 12e9, Map.of());
    calibration.keep(TWO);
    calibration.keep(faster);
    calibration.keep(one);

    assertThat(calibration.roofline(2)).contains(faster);
    assertThat(calibration.roofline(1)).contains(one);
    assertThat(calibration.roofline(3)).isEmpty();
    try (Stream<Path> files = Files.list(cache.resolve("calibration"))) {
      assertThat(files).containsExactlyInAnyOrder(calibration.file(1), calibration.file(2));
    }
  }

  @Test
  void aRunTakesTheLimitsOfItsThreadsAndItsModelsType() {
    calibration.keep(TWO);

    Limits limits = calibration.limits(model, 2).orElseThrow();

    assertThat(limits.threads()).isEqualTo(2);
    assertThat(limits.readBytesPerSecond()).isEqualTo(20e9);
    assertThat(limits.arithmetic()).isEqualTo("f32");
    assertThat(limits.productsPerSecond()).isEqualTo(180e9);
    assertThat(limits.layerBytes()).isEqualTo(4 * limits.layerProducts()).isPositive();
    assertThat(calibration.limits(model, 1)).isEmpty();
  }

  @Test
  void aRunWithoutAModelTakesTheLimitOfWhatItMultiplies() {
    calibration.keep(new Roofline(2, 20e9, Map.of("bf16 amx", 900e9, "f32", 180e9)));

    assertThat(calibration.limits(2, DataType.F32))
        .contains(Limits.ofMachine(2, 20e9, "f32", 180e9));
    assertThat(calibration.limits(2, DataType.F16))
        .contains(Limits.ofMachine(2, 20e9, "bf16 amx", 900e9));
    assertThat(calibration.limits(1, DataType.F32)).isEmpty();
  }

  @Test
  void aPeakThatWasNotMeasuredIsNotKnown() {
    calibration.keep(new Roofline(2, 20e9, Map.of()));

    Limits limits = calibration.limits(model, 2).orElseThrow();

    assertThat(limits.productsPerSecond()).isZero();
    assertThat(RooflineTable.sentence(limits))
        .contains("measured with 2 threads", "They are 20.0 GB/s of reading memory. Decode");
  }

  @Test
  void theSentenceOfAReportNamesTheMeasuredLimits() {
    calibration.keep(TWO);

    assertThat(calibration.limits(model, 2).map(RooflineTable::sentence).orElseThrow())
        .contains("They are 20.0 GB/s of reading memory and 180 GMAC/s in f32.", "over 100 % the");
  }

  @Test
  void aFileThatCantBeReadIsAsGoodAsNone() throws IOException {
    calibration.keep(TWO);
    Files.writeString(calibration.file(2), "{\"threads\": 2");

    assertThat(calibration.roofline(2)).isEmpty();
  }

  @Test
  void comparisonsOfAnEngineWithItselfAreAddedUp() throws IOException {
    Noise first = new Noise("tg64", 15, 0.03, 6, 5, 1);
    Noise second = new Noise("tg64", 45, 0.02, 6, 15, 0);
    calibration.add(2, List.of(first));
    // Killed while it wrote.
    Files.writeString(calibration.noiseFile(2), "{\"metric\":\"tg6", StandardOpenOption.APPEND);
    calibration.add(2, List.of(second));

    assertThat(calibration.noise(2)).containsExactly(first, second);
    assertThat(calibration.noise(1)).isEmpty();
    assertThat(NoiseTable.sentence(calibration.noise(2), 0.02))
        .contains("1 of 20 comparisons", "at most 22 %", "tg64 of 5.4 % in 1 min");
  }

  @Test
  void aCacheThatCantBeWrittenIsNamed() throws IOException {
    Files.writeString(cache.resolve("calibration"), "a file");

    assertThatExceptionOfType(RunException.class)
        .isThrownBy(() -> calibration.keep(TWO))
        .withMessageContaining("can't keep what was measured in " + calibration.file(2));
  }
}

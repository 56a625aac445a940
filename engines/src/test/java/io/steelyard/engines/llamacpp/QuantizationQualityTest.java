package io.steelyard.engines.llamacpp;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.codec.Codec;
import io.steelyard.kernels.codec.Encoder;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Steelyard's encoders against ggml's own quantiser, on the same rows. */
class QuantizationQualityTest {
  private static final int COLUMNS = 1024;
  private static final int ROWS = 64;

  /** Normal weights, and weights with rare large ones as trained models have. */
  private static float[] rows(boolean heavyTails, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] values = new float[ROWS * COLUMNS];
    for (int i = 0; i < values.length; i++) {
      double normal = random.nextGaussian();
      double spread = heavyTails ? Math.exp(0.5 * random.nextGaussian()) : 1;
      values[i] = (float) (0.04 * normal * spread);
    }
    return values;
  }

  @ParameterizedTest
  @EnumSource(
      names = {
        "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL",
        "IQ4_XS", "MXFP4", "NVFP4"
      })
  void errorsAreNoLargerThanGgmls(DataType type) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MethodHandle quantize = quantizeChunk();
      for (boolean heavyTails : new boolean[] {false, true}) {
        float[] values = rows(heavyTails, 7);
        MemorySegment source = arena.allocateFrom(JAVA_FLOAT, values);
        long bytes = type.bytes(values.length);
        MemorySegment theirs = arena.allocate(bytes, 64);
        long written =
            (long)
                quantize.invokeExact(
                    type.id(), source, theirs, 0L, (long) ROWS, (long) COLUMNS, MemorySegment.NULL);
        assertThat(written).isEqualTo(bytes);
        MemorySegment ours = arena.allocate(bytes, 64);
        Encoder.encode(type, values, 0, values.length, ours, 0);

        double ratio = error(type, ours, values) / error(type, theirs, values);
        System.err.printf("RATIO %s %s %.4f%n", type, heavyTails, ratio);
        assertThat(ratio)
            .as("%s, %s", type, heavyTails ? "heavy tails" : "normal")
            .isLessThanOrEqualTo(1.01);
      }
    }
  }

  private static MethodHandle quantizeChunk() throws InterruptedException {
    Path directory = Installed.installer().status().directory().orElseThrow();
    SymbolLookup base =
        SymbolLookup.libraryLookup(
            directory.resolve(LlamaCppRelease.BASE_LIBRARY), Arena.global());
    return Linker.nativeLinker()
        .downcallHandle(
            base.find("ggml_quantize_chunk").orElseThrow(),
            FunctionDescriptor.of(
                JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS));
  }

  /** Root mean square of the differences. */
  private static double error(DataType type, MemorySegment blocks, float[] values) {
    float[] decoded = new float[values.length];
    Codec.of(type).decode(blocks, 0, decoded, 0, decoded.length);
    double squares = 0;
    for (int i = 0; i < values.length; i++) {
      squares += Math.pow((double) decoded[i] - values[i], 2);
    }
    return Math.sqrt(squares / values.length);
  }
}

package io.steelyard.engines.llamacpp;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.codec.Codec;
import io.steelyard.kernels.codec.Encoder;
import io.steelyard.kernels.codec.TensorCodec;
import io.steelyard.models.gguf.GgufFile;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
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

  /** Columns that matter up to a hundred times as much as others. */
  private static float[] importance() {
    SplittableRandom random = new SplittableRandom(11);
    float[] importance = new float[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
      importance[i] = (float) Math.exp(random.nextGaussian());
    }
    return importance;
  }

  @ParameterizedTest
  @EnumSource(
      names = {
        "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL",
        "IQ4_XS", "MXFP4", "NVFP4"
      })
  void errorsAreNoLargerThanGgmls(DataType type) throws Throwable {
    float[] equal = new float[COLUMNS];
    Arrays.fill(equal, 1);
    for (Supplier<float[]> rows : rowsToTry()) {
      float[] values = rows.get();
      byte[] ours = new byte[(int) type.bytes(values.length)];
      Encoder.encode(type, values, 0, values.length, MemorySegment.ofArray(ours), 0);
      assertThat(error(type, ours, values, equal))
          .as("%s, error", type)
          .isLessThanOrEqualTo(1.01 * error(type, ggml(type, values, null), values, equal));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"})
  void weightedErrorsAreNoLargerThanGgmls(DataType type) throws Throwable {
    float[] importance = importance();
    for (Supplier<float[]> rows : rowsToTry()) {
      float[] values = rows.get();
      byte[] ours = new byte[(int) type.bytes(values.length)];
      for (int row = 0; row < ROWS; row++) {
        Encoder.encode(
            type,
            values,
            row * COLUMNS,
            COLUMNS,
            importance,
            0,
            MemorySegment.ofArray(ours),
            row * type.bytes(COLUMNS));
      }
      assertThat(error(type, ours, values, importance))
          .as("%s, weighted error", type)
          .isLessThanOrEqualTo(
              1.01 * error(type, ggml(type, values, importance), values, importance));
    }
  }

  /** Made of numbers, and of a trained model's embeddings where that is there. */
  private static List<Supplier<float[]>> rowsToTry() {
    List<Supplier<float[]>> rows = new ArrayList<>();
    rows.add(() -> rows(false, 7));
    rows.add(() -> rows(true, 7));
    String model = System.getenv("STEELYARD_TEST_MODEL");
    if (model != null) {
      rows.add(() -> trained(Path.of(model)));
    }
    return rows;
  }

  private static float[] trained(Path model) {
    try (GgufFile file = GgufFile.open(model)) {
      Tensor table = file.require("token_embd.weight");
      float[] values = new float[ROWS * COLUMNS];
      float[] row = new float[(int) table.columns()];
      for (int i = 0; i < values.length; i += row.length) {
        TensorCodec.decode(table, 1000 + i / row.length, row);
        System.arraycopy(row, 0, values, i, Math.min(row.length, values.length - i));
      }
      return values;
    }
  }

  private static byte[] ggml(DataType type, float[] values, float[] importance) throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment source = arena.allocateFrom(JAVA_FLOAT, values);
      MemorySegment blocks = arena.allocate(type.bytes(values.length), 64);
      MemorySegment weights =
          importance == null ? MemorySegment.NULL : arena.allocateFrom(JAVA_FLOAT, importance);
      long written =
          (long)
              quantizeChunk()
                  .invokeExact(type.id(), source, blocks, 0L, (long) ROWS, (long) COLUMNS, weights);
      assertThat(written).isEqualTo(blocks.byteSize());
      return blocks.toArray(JAVA_BYTE);
    }
  }

  private static MethodHandle quantizeChunk() throws InterruptedException {
    Path directory = Installed.installer().status().directory().orElseThrow();
    SymbolLookup base =
        SymbolLookup.libraryLookup(directory.resolve(LlamaCppRelease.BASE_LIBRARY), Arena.global());
    return Linker.nativeLinker()
        .downcallHandle(
            base.find("ggml_quantize_chunk").orElseThrow(),
            FunctionDescriptor.of(
                JAVA_LONG, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS));
  }

  /** Root of the weighted sum of squared differences. */
  private static double error(DataType type, byte[] blocks, float[] values, float[] importance) {
    float[] decoded = new float[values.length];
    Codec.of(type).decode(MemorySegment.ofArray(blocks), 0, decoded, 0, decoded.length);
    double squares = 0;
    for (int i = 0; i < values.length; i++) {
      squares += importance[i % COLUMNS] * Math.pow((double) decoded[i] - values[i], 2);
    }
    return Math.sqrt(squares);
  }
}

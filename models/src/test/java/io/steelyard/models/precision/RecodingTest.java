package io.steelyard.models.precision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.codec.Codec;
import io.steelyard.kernels.codec.Encoder;
import io.steelyard.models.ModelFile;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.UnknownNameException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecodingTest {
  private static final Path SOURCE =
      Path.of("src/test/resources/io/steelyard/models/tiny/llama/llama.gguf");

  @TempDir private Path folder;

  private Path recoded(Path source, String precision) {
    Path out = folder.resolve(precision + ".gguf");
    try (ModelFile file = ModelFile.open(source)) {
      new Recoding(file, Precision.of(precision)).write(out, ProgressListener.NONE);
    }
    return out;
  }

  private static float[] values(Tensor tensor) {
    float[] values = new float[Math.toIntExact(tensor.rows() * tensor.columns())];
    Codec.of(tensor.type()).decode(tensor.data(), 0, values, 0, values.length);
    return values;
  }

  @ParameterizedTest
  @ValueSource(strings = {"f16", "q8_0", "q4_0", "iq4_nl", "mxfp4"})
  void matricesAreEncodedAndVectorsKept(String precision) {
    DataType type = Precision.of(precision).usual();
    try (ModelFile source = ModelFile.open(SOURCE);
        ModelFile result = ModelFile.open(recoded(SOURCE, precision))) {
      assertThat(result.tensorNames()).containsExactlyElementsOf(source.tensorNames());
      for (Tensor from : source.tensors()) {
        Tensor to = result.require(from.name());
        assertThat(to.type()).as(from.name()).isEqualTo(from.rows() == 1 ? from.type() : type);
        byte[] expected = new byte[(int) to.data().byteSize()];
        float[] values = values(from);
        Encoder.encode(
            to.type(), values, 0, values.length, MemorySegment.ofArray(expected), 0);
        assertThat(to.data().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE))
            .as(from.name())
            .isEqualTo(expected);
      }
      assertThat(new Recoding(result, Precision.of(precision)).changesNothing()).isTrue();
    }
  }

  /** Blocks of the source are longer than those of the result, and decoded as they lie. */
  @Test
  void aQuantisedSourceIsDecodedFirst() {
    Path first = recoded(SOURCE, "q8_0");
    try (ModelFile source = ModelFile.open(first);
        ModelFile result = ModelFile.open(recoded(first, "f32"))) {
      for (Tensor from : source.tensors()) {
        assertThat(values(result.require(from.name()))).isEqualTo(values(from));
      }
    }
  }

  @Test
  void mixesGiveTheLogitsMoreBitsAndNarrowRowsAnotherType() {
    try (ModelFile result = ModelFile.open(recoded(SOURCE, "q4_k_m"))) {
      // 64 values a row hold no block of 256.
      assertThat(result.require("blk.0.attn_q.weight").type()).isEqualTo(DataType.Q5_0);
      assertThat(result.require("output.weight").type()).isEqualTo(DataType.Q8_0);
      assertThat(result.metadata().integer("general.file_type")).isEqualTo(15);
    }
  }

  @Test
  void anUnknownPrecisionNamesTheOthers() {
    assertThatThrownBy(() -> Precision.of("q9"))
        .isInstanceOf(UnknownNameException.class)
        .hasMessageContaining("no precision 'q9'")
        .hasMessageContaining("q8_0")
        .hasMessageContaining("q4_k_m");
  }
}

package io.steelyard.models.quantize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.Tier;
import io.steelyard.kernels.codec.TensorCodec;
import io.steelyard.models.Golden;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.gguf.GgufFile;
import io.steelyard.models.gguf.GgufWriter;
import io.steelyard.models.gguf.Metadata;
import io.steelyard.models.tokenizer.Tokenizer;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImportanceTest {
  private static final String TEXT = "the end of the beginning, and the beginning of the end";

  @TempDir Path directory;

  @Test
  void whatTheFirstMatricesMeetIsTheNormOfTheEmbeddings() throws IOException {
    Path path = Golden.model("llama", directory);
    Importance found;
    try (Kernels kernels = Kernels.of(Tier.REFERENCE, 1)) {
      found = ImportanceCollector.collect(path, kernels, "text", TEXT, ProgressListener.NONE);
    }
    try (GgufFile file = GgufFile.open(path)) {
      Tensor table = file.require("token_embd.weight");
      int width = (int) table.columns();
      float[] norm = new float[width];
      TensorCodec.decode(file.require("blk.0.attn_norm.weight"), 0, norm);
      double epsilon = file.metadata().real("llama.attention.layer_norm_rms_epsilon");
      int[] ids = Tokenizer.of(file.metadata()).encode(TEXT, false);
      double[] expected = new double[width];
      float[] row = new float[width];
      for (int id : ids) {
        TensorCodec.decode(table, id, row);
        double squares = 0;
        for (float value : row) {
          squares += value * value;
        }
        double scale = 1 / Math.sqrt(squares / width + epsilon);
        for (int i = 0; i < width; i++) {
          expected[i] += Math.pow(row[i] * scale * norm[i], 2) / ids.length;
        }
      }

      assertThat(found.means()).containsKey("blk.2.ffn_down.weight");
      assertThat(found.means().keySet()).allMatch(name -> name.startsWith("blk."));
      for (String part : new String[] {"attn_q", "attn_k", "attn_v"}) {
        float[] actual = found.means().get("blk.0." + part + ".weight");
        assertThat(actual).hasSize(width);
        for (int i = 0; i < width; i++) {
          assertThat((double) actual[i]).isCloseTo(expected[i], within(1e-5 * expected[i] + 1e-9));
        }
      }
    }
  }

  private Path matrix(float[] sums, int columns, float... counts) {
    Path path = directory.resolve("imatrix.gguf");
    GgufWriter writer = new GgufWriter(new Metadata("test", Map.of("general.type", "imatrix")));
    add(writer, "blk.0.attn_q.weight.in_sum2", sums, columns, sums.length / columns);
    add(writer, "blk.0.attn_q.weight.counts", counts, 1, counts.length);
    writer.write(path, ProgressListener.NONE);
    return path;
  }

  private static void add(GgufWriter writer, String name, float[] values, long... dimensions) {
    writer.add(
        name,
        DataType.F32,
        dimensions,
        (from, part) -> {
          for (int i = 0; i < part.byteSize() / 4; i++) {
            part.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i, values[(int) from / 4 + i]);
          }
        });
  }

  @Test
  void readsWhatLlamaImatrixWrites() {
    Importance read = Importance.read(matrix(new float[] {2, 4, 6, 30, 0, 60}, 3, 2, 10));

    assertThat(read.means().get("blk.0.attn_q.weight")).containsExactly(1, 2, 3, 3, 0, 6);
    // As shares of each matrix's mean, and a thousandth.
    assertThat(read.weights("blk.0.attn_q.weight", 3, 2).orElseThrow())
        .containsExactly(0.501f, 1.001f, 1.501f, 1.001f, 0.001f, 2.001f);
    assertThat(read.weights("blk.1.attn_q.weight", 3, 2)).isEmpty();
    assertThatThrownBy(() -> read.weights("blk.0.attn_q.weight", 4, 2))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining(
            "6 values for tensor 'blk.0.attn_q.weight', which has 4 columns in each of 2 experts");
  }

  /** A file of the format before GGUF, of one tensor. */
  private Path data(String name, int calls, float... values) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    bytes.putInt(1).putInt(text.length).put(text).putInt(calls).putInt(values.length);
    for (float value : values) {
      bytes.putFloat(value);
    }
    // The last chunk, and what text it was made of.
    bytes.putInt(calls).putInt(8).put("text.txt".getBytes(StandardCharsets.UTF_8));
    Path path = directory.resolve("imatrix.dat");
    return Files.write(path, Arrays.copyOf(bytes.array(), bytes.position()));
  }

  @Test
  void readsWhatLlamaImatrixWroteBeforeGguf() throws IOException {
    Path path = data("blk.0.attn_q.weight", 4, 4, 8, 12);

    assertThat(Importance.isStored(path)).isTrue();
    assertThat(Importance.read(path).means().get("blk.0.attn_q.weight")).containsExactly(1, 2, 3);
    assertThat(Importance.isStored(Files.writeString(directory.resolve("t"), TEXT))).isFalse();
  }

  @Test
  void refusesDamagedDataWithoutAskingForItsMemory() throws IOException {
    Path path = data("blk.0.attn_q.weight", 4, 4, 8, 12);
    byte[] whole = Files.readAllBytes(path);
    int values = 8 + "blk.0.attn_q.weight".length() + 4;
    for (int length = 4; length < values + 4 + 12; length++) {
      Files.write(path, Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> Importance.read(path))
          .isInstanceOf(ModelException.class)
          .hasMessageContaining("is no importance matrix, or is damaged");
    }
    byte[] huge = whole.clone();
    huge[values + 3] = 0x7F;
    Files.write(path, huge);
    assertThatThrownBy(() -> Importance.read(path))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("are left");
    Path none = data("blk.0.attn_q.weight", 4, 4, Float.NaN, 12);
    assertThatThrownBy(() -> Importance.read(none)).hasMessageContaining("a mean square of NaN");
  }

  @Test
  void refusesWhatIsNone() throws IOException {
    Path model = Golden.model("llama", directory);
    assertThatThrownBy(() -> Importance.read(model))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("holds no importance matrix");
    Path damaged = matrix(new float[] {1, Float.NaN, 1}, 3, 2);
    assertThatThrownBy(() -> Importance.read(damaged))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("is damaged");
  }

  @Test
  void errorsMoveToColumnsThatMatterLittle() throws IOException {
    Path source = Golden.model("llama", directory);
    float[] sums = new float[64];
    for (int i = 0; i < sums.length; i++) {
      sums[i] = i % 8 == 0 ? 100 : 1;
    }
    Importance importance = Importance.read(matrix(sums, 64, 1));
    Quantizer.Choice plain = Quantizer.Choice.of(Scheme.pure(DataType.IQ4_NL));

    double[] without = errors(source, plain);
    double[] with = errors(source, plain.with(importance));

    // Errors of columns that matter, then of the others.
    assertThat(with[0]).isLessThan(0.9 * without[0]);
    assertThat(with[1]).isGreaterThan(without[1]);
  }

  private double[] errors(Path from, Quantizer.Choice choice) {
    Path out = directory.resolve("out.gguf");
    double[] errors = new double[2];
    try (ModelFile source = ModelFile.open(from)) {
      Quantizer.write(source, choice, out, ProgressListener.NONE, ProgressListener.NONE);
      try (GgufFile written = GgufFile.open(out)) {
        Tensor before = source.require("blk.0.attn_q.weight");
        Tensor after = written.require("blk.0.attn_q.weight");
        float[] expected = new float[64];
        float[] actual = new float[64];
        for (int row = 0; row < before.rows(); row++) {
          TensorCodec.decode(before, row, expected);
          TensorCodec.decode(after, row, actual);
          for (int i = 0; i < 64; i++) {
            errors[i % 8 == 0 ? 0 : 1] += Math.pow((double) actual[i] - expected[i], 2);
          }
        }
      }
    }
    return errors;
  }
}

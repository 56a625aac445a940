package io.steelyard.models.quantize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.Tier;
import io.steelyard.kernels.codec.TensorCodec;
import io.steelyard.models.Model;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.Session;
import io.steelyard.models.UnknownNameException;
import io.steelyard.models.gguf.GgufFile;
import io.steelyard.models.gguf.GgufWriter;
import io.steelyard.models.gguf.Metadata;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** On a small Llama with rows of 256 values, made here from a seed. */
class QuantizerTest {
  private static final int WIDTH = 256;
  private static final int LAYERS = 1;
  private static final int VOCABULARY = 64;

  @TempDir Path directory;
  private Path original;

  @BeforeEach
  void makeModel() {
    original = directory.resolve("original.gguf");
    Map<String, Object> values =
        Map.ofEntries(
            Map.entry("general.architecture", "llama"),
            Map.entry("general.file_type", 0),
            Map.entry("llama.block_count", LAYERS),
            Map.entry("llama.context_length", 128),
            Map.entry("llama.embedding_length", WIDTH),
            Map.entry("llama.feed_forward_length", 2 * WIDTH),
            Map.entry("llama.attention.head_count", 4),
            Map.entry("llama.attention.head_count_kv", 2),
            Map.entry("llama.attention.layer_norm_rms_epsilon", 1e-5f),
            Map.entry("llama.vocab_size", VOCABULARY));
    GgufWriter writer = new GgufWriter(new Metadata("test", values));
    add(writer, "token_embd.weight", WIDTH, VOCABULARY);
    add(writer, "output.weight", WIDTH, VOCABULARY);
    add(writer, "output_norm.weight", WIDTH);
    for (int layer = 0; layer < LAYERS; layer++) {
      String in = "blk." + layer + ".";
      add(writer, in + "attn_norm.weight", WIDTH);
      add(writer, in + "attn_q.weight", WIDTH, WIDTH);
      add(writer, in + "attn_k.weight", WIDTH, WIDTH / 2);
      add(writer, in + "attn_v.weight", WIDTH, WIDTH / 2);
      add(writer, in + "attn_output.weight", WIDTH, WIDTH);
      add(writer, in + "ffn_norm.weight", WIDTH);
      add(writer, in + "ffn_gate.weight", WIDTH, 2 * WIDTH);
      add(writer, in + "ffn_up.weight", WIDTH, 2 * WIDTH);
      add(writer, in + "ffn_down.weight", 2 * WIDTH, WIDTH);
    }
    writer.write(original, ProgressListener.NONE);
  }

  private static void add(GgufWriter writer, String name, long... dimensions) {
    writer.add(
        name,
        DataType.F32,
        dimensions,
        (from, part) -> {
          SplittableRandom random = new SplittableRandom(name.hashCode() + from);
          for (long i = 0; i < part.byteSize() / 4; i++) {
            float value =
                dimensions.length == 1
                    ? 1
                    : (float) (random.nextGaussian() / Math.sqrt((double) dimensions[0]));
            part.setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i, value);
          }
        });
  }

  private Path quantized(String scheme) {
    Path out = directory.resolve(scheme + ".gguf");
    write(Quantizer.Choice.of(Scheme.of(scheme)), original, out);
    return out;
  }

  private static List<Quantizer.Plan> write(Quantizer.Choice choice, Path from, Path out) {
    try (ModelFile source = ModelFile.open(from)) {
      return Quantizer.write(source, choice, out, ProgressListener.NONE, ProgressListener.NONE);
    }
  }

  /**
   * The error of normal weights, as a share of their size, and what it does to the model's word. A
   * divergence goes with the square of small errors; the factor is about 5 for this model, and a
   * scheme whose scales are lost somewhere is nats away.
   */
  @ParameterizedTest
  @CsvSource({
    "f16, 0.021",
    "bf16, 0.166",
    "q8_0, 0.535",
    "int8_tensor, 1.02",
    "int8_row, 0.700",
    "int8_g32, 0.535",
    "int8_g64, 0.592",
    "int8_g128, 0.645",
    "fp8_e4m3, 2.64",
    "fp8_e5m2, 5.25",
    "nf4, 9.20",
    "nf4_dq, 9.21",
    "fp4, 10.6",
    "mxfp4, 11.3",
    "nvfp4, 9.38",
    "q6_k, 1.72",
    "q5_k_m, 3.42",
    "q4_k_m, 6.74",
    "q3_k_m, 12.4",
    "q2_k, 23.5",
    "q4_0, 8.52",
    "q4_1, 7.76",
    "q5_0, 4.24",
    "q5_1, 3.76",
    "iq4_nl, 7.27",
    "iq4_xs, 7.35",
    "f16_2of4, 36.4"
  })
  void aQuantisedModelSaysNearlyTheSame(String scheme, double percent) {
    Path out = directory.resolve(scheme + ".gguf");
    double error;
    try (ModelFile source = ModelFile.open(original)) {
      Quantizer.Choice choice = Quantizer.Choice.of(Scheme.of(scheme));
      List<Quantizer.Plan> plans =
          Quantizer.write(source, choice, out, ProgressListener.NONE, ProgressListener.NONE);
      try (GgufFile written = GgufFile.open(out)) {
        error = error(Readback.of(written, plans, ProgressListener.NONE));
      }
    }
    double[][] expected = probabilities(original);
    double[][] actual = probabilities(out);
    double divergence = 0;
    for (int t = 0; t < expected.length; t++) {
      for (int i = 0; i < expected[t].length; i++) {
        divergence += expected[t][i] * Math.log(expected[t][i] / actual[t][i]);
      }
    }
    divergence /= expected.length;

    assertThat(100 * error).as(scheme).isBetween(0.9 * percent, 1.05 * percent);
    assertThat(divergence).as(scheme).isBetween(-1e-9, 12 * error * error + 1e-9);
  }

  /** The differences' root mean square as a share of the matrices' values. */
  private static double error(List<Readback.Result> results) {
    double errors = 0;
    double squares = 0;
    for (Readback.Result result : results) {
      errors += result.error() * result.error() * result.values();
      squares += result.size() * result.size() * result.values();
    }
    return Math.sqrt(errors / squares);
  }

  private static double[][] probabilities(Path file) {
    int[] ids = new SplittableRandom(5).ints(12, 0, VOCABULARY).toArray();
    List<double[]> rows = new ArrayList<>();
    try (Kernels kernels = Kernels.of(Tier.REFERENCE, 1);
        Model model = Model.load(file, kernels);
        Session session = model.newSession(ids.length, DataType.F32)) {
      session.forward(
          ids, 0, ids.length, row -> rows.add(softmax(row.toArray(ValueLayout.JAVA_FLOAT))));
    }
    return rows.toArray(double[][]::new);
  }

  private static double[] softmax(float[] logits) {
    double[] result = new double[logits.length];
    double largest = Double.NEGATIVE_INFINITY;
    for (float logit : logits) {
      largest = Math.max(largest, logit);
    }
    double sum = 0;
    for (int i = 0; i < logits.length; i++) {
      result[i] = Math.exp(logits[i] - largest);
      sum += result[i];
    }
    for (int i = 0; i < result.length; i++) {
      result[i] /= sum;
    }
    return result;
  }

  @Test
  void vectorsStayBitForBitAndMetadataSaysWhatTheFileIs() {
    Path out = quantized("nf4_dq");
    try (GgufFile before = GgufFile.open(original);
        GgufFile after = GgufFile.open(out)) {
      for (String name : List.of("output_norm.weight", "blk.0.ffn_norm.weight")) {
        assertThat(after.require(name).type()).isEqualTo(DataType.F32);
        assertThat(after.require(name).data().mismatch(before.require(name).data())).isEqualTo(-1);
      }
      assertThat(after.metadata().has("general.file_type")).isFalse();
      assertThat(after.metadata().string("steelyard.quantization")).isEqualTo("nf4_dq");
      assertThat(after.metadata().strings("steelyard.types")).hasSize(1);
      assertThat(after.metadata().strings("steelyard.types").getFirst()).startsWith("9007 NF4_DQ:");
      assertThat(after.metadata().integer("llama.block_count")).isEqualTo(LAYERS);
    }
    try (GgufFile mix = GgufFile.open(quantized("q4_k_m"))) {
      assertThat(mix.metadata().integer("general.file_type")).isEqualTo(15);
      assertThat(mix.metadata().has("steelyard.types")).isFalse();
    }
  }

  @Test
  void readingBackTellsBytesAndErrors() {
    Path out = directory.resolve("out.gguf");
    try (ModelFile source = ModelFile.open(original)) {
      List<Quantizer.Plan> plans =
          Quantizer.write(
              source,
              Quantizer.Choice.of(Scheme.of("int8-row")),
              out,
              ProgressListener.NONE,
              ProgressListener.NONE);
      try (GgufFile written = GgufFile.open(out)) {
        List<Readback.Result> results = Readback.of(written, plans, ProgressListener.NONE);
        Readback.Result down =
            results.stream()
                .filter(result -> result.name().equals("blk.0.ffn_down.weight"))
                .findFirst()
                .orElseThrow();
        assertThat(down.from()).isEqualTo(DataType.F32);
        assertThat(down.to()).isEqualTo(DataType.INT8_ROW);
        assertThat(down.before()).isEqualTo(4 * 512 * 256);
        // A byte a value, and a float a row.
        assertThat(down.after()).isEqualTo(512 * 256 + 4 * 256);
        // A step is largest / 127, rounding's error step / √12; of 512 normal values the largest
        // is about 3.1 times their root mean square.
        assertThat(down.error() / down.size()).isBetween(0.005, 0.009);
        // The same by hand.
        assertThat(down.error()).isEqualTo(error(source, written, down.name()));
        assertThat(results.stream().filter(r -> r.name().endsWith("_norm.weight")))
            .allMatch(r -> r.error() == 0 && r.before() == r.after());
      }
    }
  }

  private static double error(ModelFile before, ModelFile after, String name) {
    Tensor a = before.require(name);
    float[] expected = new float[(int) a.columns()];
    float[] actual = new float[expected.length];
    double squares = 0;
    for (int row = 0; row < a.rows(); row++) {
      TensorCodec.decode(a, row, expected);
      TensorCodec.decode(after.require(name), row, actual);
      for (int i = 0; i < expected.length; i++) {
        squares += Math.pow((double) actual[i] - expected[i], 2);
      }
    }
    return Math.sqrt(squares / (a.rows() * a.columns()));
  }

  @Test
  void typesOfEmbeddingAndOutputCanBeChosen() {
    Path out = directory.resolve("out.gguf");
    write(
        new Quantizer.Choice(
            Scheme.of("nf4"),
            Optional.of(DataType.F16),
            Optional.of(DataType.Q8_0),
            Optional.empty(),
            Optional.empty()),
        original,
        out);
    try (GgufFile file = GgufFile.open(out)) {
      assertThat(file.require("token_embd.weight").type()).isEqualTo(DataType.F16);
      assertThat(file.require("output.weight").type()).isEqualTo(DataType.Q8_0);
      assertThat(file.require("blk.0.attn_q.weight").type()).isEqualTo(DataType.NF4);
    }
  }

  @Test
  void quantisingAgainDropsTheScalesThatAreNotNeeded() {
    Path once = quantized("int8_row");
    Path twice = directory.resolve("twice.gguf");
    write(Quantizer.Choice.of(Scheme.of("q8_0")), once, twice);
    try (GgufFile first = GgufFile.open(once);
        GgufFile second = GgufFile.open(twice)) {
      assertThat(first.tensorNames()).contains("blk.0.attn_q.scale");
      assertThat(second.tensorNames()).noneMatch(name -> name.endsWith(".scale"));
      assertThat(second.require("blk.0.attn_q.weight").type()).isEqualTo(DataType.Q8_0);
    }
  }

  @Test
  void aFileWhoseScalesAreGoneIsRefused() throws IOException {
    Path whole = quantized("int8_row");
    Path cut = directory.resolve("cut.gguf");
    try (GgufFile file = GgufFile.open(whole)) {
      GgufWriter writer = new GgufWriter(file.metadata());
      for (Tensor tensor : file.tensors()) {
        if (!tensor.name().equals("blk.0.attn_q.scale")) {
          writer.add(tensor);
        }
      }
      writer.write(cut, ProgressListener.NONE);
    }
    assertThatThrownBy(() -> GgufFile.open(cut))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("blk.0.attn_q.weight")
        .hasMessageContaining("'blk.0.attn_q.scale', and that is missing");
    assertThat(Files.exists(cut)).isTrue();
  }

  @Test
  void valuesThatNoScaleCanStandForAreRefused() {
    Path bad = directory.resolve("bad.gguf");
    try (GgufFile file = GgufFile.open(original)) {
      GgufWriter writer = new GgufWriter(file.metadata());
      for (Tensor tensor : file.tensors()) {
        if (tensor.name().equals("blk.0.attn_k.weight")) {
          writer.add(
              tensor.name(),
              tensor.type(),
              new long[] {tensor.columns(), tensor.rows()},
              (from, part) -> part.fill((byte) 0xFF));
        } else {
          writer.add(tensor);
        }
      }
      writer.write(bad, ProgressListener.NONE);
    }
    Path out = directory.resolve("out.gguf");
    assertThatThrownBy(() -> write(Quantizer.Choice.of(Scheme.of("q4_0")), bad, out))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("'blk.0.attn_k.weight' holds NaN in row");
    assertThat(out).doesNotExist();
    assertThat(directory).isDirectoryNotContaining(path -> path.toString().endsWith(".part"));
  }

  @ParameterizedTest
  @CsvSource({"2:4, 0.5", "block:0.25, 0.25", "channel:0.5, 0.5", "random:0.3, 0.3"})
  void sparsityZeroesTheShareThatIsAskedFor(String pattern, double share) {
    Path out = directory.resolve("sparse.gguf");
    Quantizer.Choice choice = Quantizer.Choice.of(Scheme.of("f16")).with(Sparsity.of(pattern));
    try (ModelFile source = ModelFile.open(original)) {
      List<Quantizer.Plan> plans =
          Quantizer.write(source, choice, out, ProgressListener.NONE, ProgressListener.NONE);
      try (GgufFile written = GgufFile.open(out)) {
        for (Readback.Result result : Readback.of(written, plans, ProgressListener.NONE)) {
          if (result.to() == DataType.F16) {
            // Drawn by lot: five standard deviations of the smallest matrix.
            double luck = pattern.startsWith("random") ? 5 * 0.46 / Math.sqrt(64 * 256) : 0;
            assertThat(result.zeros())
                .as(result.name())
                .isBetween(share - luck - 1e-9, share + luck + 1e-9);
          }
        }
        assertThat(written.metadata().string("steelyard.sparsity")).startsWith(pattern);
      }
    }
  }

  @Test
  void maskedAndCompressedTwoOfFourAreTheSameWeights() {
    Path masked = directory.resolve("masked.gguf");
    write(Quantizer.Choice.of(Scheme.of("f16")).with(Sparsity.of("2:4")), original, masked);
    try (GgufFile a = GgufFile.open(masked);
        GgufFile b = GgufFile.open(quantized("f16_2of4"))) {
      Tensor dense = a.require("blk.0.ffn_up.weight");
      Tensor compressed = b.require("blk.0.ffn_up.weight");
      float[] expected = new float[WIDTH];
      float[] actual = new float[WIDTH];
      for (int row = 0; row < dense.rows(); row++) {
        TensorCodec.decode(dense, row, expected);
        TensorCodec.decode(compressed, row, actual);
        for (int i = 0; i < WIDTH; i++) {
          assertThat(actual[i]).isEqualTo(expected[i] + 0f);
        }
      }
    }
  }

  @Test
  void unknownNamesGetNearOnesOrAll() {
    assertThatThrownBy(() -> Scheme.of("q4_k_x"))
        .isInstanceOf(UnknownNameException.class)
        .hasMessageContaining("there is no type 'q4_k_x'; near it are")
        .hasMessageContaining("q4_k_m");
    assertThatThrownBy(() -> Scheme.of("zzz"))
        .isInstanceOf(UnknownNameException.class)
        .hasMessageContaining("types are f32, f16")
        .hasMessageContaining("nf4_dq");
    assertThatThrownBy(() -> Sparsity.of("block:1.5"))
        .isInstanceOf(UnknownNameException.class)
        .hasMessageContaining("block:0.5");
    assertThat(Scheme.of("NF4-DQ").usual()).isEqualTo(DataType.NF4_DQ);
    assertThat(Scheme.of("2:4").usual()).isEqualTo(DataType.F16_2OF4);
  }
}

package io.steelyard.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.kernels.codec.Encoder;
import io.steelyard.models.gguf.GgufFile;
import io.steelyard.models.quantize.Quantizer;
import io.steelyard.models.quantize.Scheme;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A whole model with its matrices in one type, in every tier. */
class StoredTypesTest {
  @TempDir Path directory;

  /** The tiny models' rows are no multiple of 256 wide. */
  static Stream<DataType> types() {
    return Encoder.types().stream().filter(type -> type.blockSize() <= 64);
  }

  @ParameterizedTest
  @MethodSource("types")
  void tiersAgree(DataType type) throws IOException {
    int[] ids = Golden.ids(Golden.json("tiny/llama/golden.json").get("ids"));
    Path file = rewritten(type);
    float[] exact = logits(Tier.REFERENCE, file, ids);
    for (Tier tier : Tier.values()) {
      if (Kernels.available(tier)) {
        assertThat(distance(exact, logits(tier, file, ids)))
            .as("%s in the %s tier", type, tier.label())
            .isLessThan(tolerance(type, tier));
      }
    }
  }

  /** Bytes and bf16 have steps of 1 part in 254: a percent for two layers, and as much again. */
  private static double tolerance(DataType type, Tier tier) {
    return switch (tier) {
      case VECTOR -> 1e-4;
      // Other types are whole numbers of 16 bits there, off by 1e-4; those of 8, by 258 times that.
      case AVX2 ->
          switch (type) {
            case Q4_0, Q4_1, Q5_0, Q5_1, IQ4_NL, MXFP4, NVFP4 -> 0.026;
            default -> 0.002;
          };
      default -> 0.02;
    };
  }

  @Test
  void whatIsHeldAnewCountsAsMemory() throws IOException {
    Path file = rewritten(DataType.INT8_G32);
    try (Kernels plain = Kernels.of(Tier.REFERENCE, 1);
        Model stored = Model.load(file, plain)) {
      assumeTrue(Kernels.available(Tier.AVX2), "not applicable here: no avx2 tier");
      try (Kernels kernels = Kernels.of(Tier.AVX2, 1);
          Model held = Model.load(file, kernels);
          GgufFile gguf = GgufFile.open(file)) {
        // All matrices but the embedding, which is only looked up.
        long values =
            gguf.tensors().stream()
                .filter(tensor -> tensor.type() == DataType.INT8_G32)
                .filter(tensor -> !tensor.name().equals("token_embd.weight"))
                .mapToLong(tensor -> tensor.rows() * tensor.columns())
                .sum();
        assertThat(held.weightBytes() - stored.weightBytes())
            .isEqualTo(DataType.Q8_0.bytes(values));
      }
    }
  }

  /** The tiny Llama with all its matrices encoded anew; some rows are no multiple of 64 wide. */
  private Path rewritten(DataType type) throws IOException {
    Path target = directory.resolve(type + ".gguf");
    try (GgufFile file = GgufFile.open(Golden.model("llama", directory))) {
      Quantizer.Choice choice = Quantizer.Choice.of(Scheme.pure(type));
      Quantizer.write(file, choice, target, ProgressListener.NONE, ProgressListener.NONE);
    }
    return target;
  }

  /** Logits of a prompt, then of tokens one by one. */
  private static float[] logits(Tier tier, Path file, int[] ids) {
    List<float[]> rows = new ArrayList<>();
    try (Kernels kernels = Kernels.of(tier, 2);
        Model model = Model.load(file, kernels);
        Session session = model.newSession(ids.length, DataType.F32)) {
      int prompt = ids.length - 8;
      session.forward(ids, 0, prompt, row -> rows.add(row.toArray(ValueLayout.JAVA_FLOAT)));
      for (int i = prompt; i < ids.length; i++) {
        rows.add(session.step(ids[i]).toArray(ValueLayout.JAVA_FLOAT));
      }
    }
    float[] all = new float[rows.size() * rows.getFirst().length];
    for (int i = 0; i < rows.size(); i++) {
      System.arraycopy(rows.get(i), 0, all, i * rows.get(i).length, rows.get(i).length);
    }
    return all;
  }

  /** Root mean square of the differences, as a share of the values' own. */
  private static double distance(float[] expected, float[] actual) {
    assertThat(actual).hasSameSizeAs(expected);
    double off = 0;
    double all = 0;
    for (int i = 0; i < expected.length; i++) {
      off += Math.pow((double) actual[i] - expected[i], 2);
      all += Math.pow(expected[i], 2);
    }
    return Math.sqrt(off / all);
  }
}

package io.steelyard.models.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.DataType;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.gguf.GgufFile;
import io.steelyard.models.gguf.GgufWriter;
import io.steelyard.models.gguf.Metadata;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The costs of a tiny model of two layers, counted by hand. */
class ModelCostTest {
  /** Of a layer: 2 × 32×32, 2 × 16×32, 3 × 64×32. */
  private static final long LAYER = 9_216;

  /** 50 × 32. */
  private static final long EMBEDDING = 1_600;

  @TempDir Path directory;

  private ModelCost cost(DataType layers, DataType embedding, boolean tied) {
    Path file = directory.resolve("model.gguf");
    GgufWriter writer =
        new GgufWriter(
            new Metadata(
                "model.gguf",
                Map.of(
                    "general.architecture", "llama",
                    "llama.block_count", 2,
                    "llama.context_length", 128,
                    "llama.embedding_length", 32,
                    "llama.feed_forward_length", 64,
                    "llama.attention.head_count", 4,
                    "llama.attention.head_count_kv", 2,
                    "llama.attention.layer_norm_rms_epsilon", 1e-5f)));
    add(writer, "token_embd.weight", embedding, 32, 50);
    for (int i = 0; i < 2; i++) {
      String block = "blk." + i + ".";
      add(writer, block + "attn_norm.weight", DataType.F32, 32);
      add(writer, block + "attn_q.weight", layers, 32, 32);
      add(writer, block + "attn_k.weight", layers, 32, 16);
      add(writer, block + "attn_v.weight", layers, 32, 16);
      add(writer, block + "attn_output.weight", layers, 32, 32);
      add(writer, block + "ffn_norm.weight", DataType.F32, 32);
      add(writer, block + "ffn_gate.weight", layers, 32, 64);
      add(writer, block + "ffn_up.weight", layers, 32, 64);
      add(writer, block + "ffn_down.weight", layers, 64, 32);
    }
    add(writer, "output_norm.weight", DataType.F32, 32);
    if (!tied) {
      add(writer, "output.weight", DataType.Q8_0, 32, 50);
    }
    writer.write(file, ProgressListener.NONE);
    try (GgufFile opened = GgufFile.open(file)) {
      return ModelCost.of(opened);
    }
  }

  private static void add(GgufWriter writer, String name, DataType type, long... dimensions) {
    writer.add(name, type, dimensions, (from, part) -> part.fill((byte) 0));
  }

  @Test
  void countsMatricesOfTheLayersAndTheTiedOutput() {
    ModelCost cost = cost(DataType.Q8_0, DataType.F16, true);

    assertThat(cost)
        .isEqualTo(
            new ModelCost(
                2 * LAYER / 32 * 34, // blocks of 32 values in 34 bytes
                2 * EMBEDDING,
                2 * LAYER,
                EMBEDDING,
                2 * 2 * 16, // keys and values of two layers, two heads of 8
                2 * 2 * 32, // scores and sums of two layers, four heads of 8
                "int8"));
  }

  @Test
  void theEmbeddingIsNotReadWhereTheOutputIsAMatrixOfItsOwn() {
    ModelCost cost = cost(DataType.Q4_0, DataType.F32, false);

    assertThat(cost.outputBytes()).isEqualTo(EMBEDDING / 32 * 34);
    assertThat(cost.outputProducts()).isEqualTo(EMBEDDING);
    assertThat(cost.layerBytes()).isEqualTo(2 * LAYER / 32 * 18);
  }

  @Test
  void theLimitIsThatOfTheTypeThatIsMultiplied() {
    assertThat(cost(DataType.BF16, DataType.BF16, true).limit()).isEqualTo("bf16");
    assertThat(cost(DataType.F16, DataType.F16, true).limit()).isEqualTo("f16");
    assertThat(cost(DataType.F32, DataType.F32, false).limit()).isEqualTo("f32");
  }
}

package io.steelyard.models.synth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.ModelException;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.gguf.GgufFile;
import io.steelyard.models.gguf.Metadata;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class SynthTest {
  private static final Shape LLAMA =
      new Shape("tiny", "none", "llama", 2, 128, 4, 2, 256, 400, 64, 10_000f, 1e-5f, true, false);
  private static final Shape QWEN =
      new Shape("tiny", "none", "qwen2", 1, 64, 4, 2, 96, 300, 64, 1e6f, 1e-6f, false, true);

  /** Widths that are multiples of 256, as in the shape of 1B, and its number of layers. */
  private static final Shape WIDE =
      new Shape("wide", "none", "llama", 16, 256, 4, 2, 512, 300, 64, 10_000f, 1e-5f, true, false);

  /** As the shape of 135M: only rows of the feed-forward width are multiples of 256. */
  private static final Shape NARROW =
      new Shape("narrow", "none", "llama", 30, 64, 1, 1, 256, 300, 64, 1e4f, 1e-5f, true, false);

  /** Layers of 16 and of 30 that llama.cpp's quantiser gives more bits. */
  private static final Set<Integer> FINER_OF_16 = Set.of(0, 1, 4, 7, 10, 13, 14, 15);

  private static final Set<Integer> FINER_OF_30 =
      Set.of(0, 1, 2, 5, 8, 11, 14, 17, 20, 23, 26, 27, 28, 29);

  @TempDir Path directory;

  @Test
  void writesEveryTensorOfALlamaModel() {
    try (GgufFile file = write(LLAMA, PrecisionMix.Q8_0, 1, "m.gguf")) {
      assertThat(file.tensorNames()).hasSize(2 + 2 * 9).doesNotContain("output.weight");
      assertShape(file, "token_embd.weight", DataType.Q8_0, 128, 400);
      assertShape(file, "blk.1.attn_q.weight", DataType.Q8_0, 128, 128);
      assertShape(file, "blk.1.attn_k.weight", DataType.Q8_0, 128, 64);
      assertShape(file, "blk.1.attn_v.weight", DataType.Q8_0, 128, 64);
      assertShape(file, "blk.1.ffn_gate.weight", DataType.Q8_0, 128, 256);
      assertShape(file, "blk.1.ffn_down.weight", DataType.Q8_0, 256, 128);
      assertShape(file, "blk.1.ffn_norm.weight", DataType.F32, 128, 1);
      assertShape(file, "output_norm.weight", DataType.F32, 128, 1);
    }
  }

  @Test
  void writesBiasesAndAnOutputMatrixWhereTheShapeHasThem() {
    try (GgufFile file = write(QWEN, PrecisionMix.F16, 1, "m.gguf")) {
      assertShape(file, "output.weight", DataType.F16, 64, 300);
      assertShape(file, "blk.0.attn_q.bias", DataType.F32, 64, 1);
      assertShape(file, "blk.0.attn_k.bias", DataType.F32, 32, 1);
      assertThat(file.metadata().string("general.architecture")).isEqualTo("qwen2");
      assertThat(file.metadata().integer("qwen2.attention.head_count_kv")).isEqualTo(2);
    }
  }

  @Test
  void saysThatItsWeightsAreRandom() {
    try (GgufFile file = write(LLAMA, PrecisionMix.F16, 7, "m.gguf")) {
      Metadata metadata = file.metadata();
      assertThat(metadata.string(Synth.WEIGHTS_KEY)).isEqualTo(Synth.RANDOM);
      assertThat(metadata.string("general.name")).isEqualTo("Random weights, tiny F16, seed 7");
      assertThat(metadata.integer("general.file_type")).isEqualTo(1);
    }
  }

  @Test
  void givesEqualBytesWhateverTheNumberOfThreads() throws Exception {
    write(LLAMA, PrecisionMix.Q4_0, 3, "a.gguf").close();
    try (ForkJoinPool one = new ForkJoinPool(1)) {
      one.submit(() -> write(LLAMA, PrecisionMix.Q4_0, 3, "b.gguf").close()).get();
    }
    write(LLAMA, PrecisionMix.Q4_0, 4, "c.gguf").close();

    assertThat(directory.resolve("b.gguf")).hasSameBinaryContentAs(directory.resolve("a.gguf"));
    assertThat(Files.mismatch(directory.resolve("a.gguf"), directory.resolve("c.gguf")))
        .isPositive();
  }

  /** If one of these changes, {@link Synth#GENERATION} has to go up. */
  @ParameterizedTest
  @CsvSource({
    "F16, dfb0f4609f3e106d3a3a5f62b32da86a4553f43964a3c11599b945cf8c080018",
    "BF16, 05befa09726959ed5be99015ac9150058b43e63331d557a8a562c7b05e42aeba",
    "Q8_0, c217dd1689f5ff65d870576ae3f70d7f16523c0fded0081a5bc0c3b7616d6ea9",
    "Q4_0, 54740f4bd1d9f8516edc3da4041f17ad49b4d368d5b695f71ffb3caba9f94043"
  })
  void givesTheSameBytesInEveryBuild(PrecisionMix mix, String sum) throws Exception {
    write(LLAMA, mix, 1, "m.gguf").close();

    assertThat(Synth.GENERATION).isEqualTo(2);
    assertThat(sha256(directory.resolve("m.gguf"))).isEqualTo(sum);
  }

  /** These go by {@link Synth#GENERATION} too. */
  @ParameterizedTest
  @CsvSource({
    "Q4_K_M, 44f0485dbbde55a143fd481ef95c370c9b9576234aab4e6ca7428066b8edb2fe",
    "Q5_K_M, ddaa921b395700b26454b40c192ecb119fc29b52e39c18d9a3aaf18a26f3b233",
    "Q6_K, d9967c9b7a5f0d24f314c54f99530369a01ba4cb70f583b8a48461f57a72ec24"
  })
  void givesTheSameBlocksInEveryBuild(PrecisionMix mix, String sum) throws Exception {
    write(WIDE, mix, 1, "m.gguf").close();

    assertThat(sha256(directory.resolve("m.gguf"))).isEqualTo(sum);
  }

  @ParameterizedTest
  @CsvSource({"Q4_K_M, Q4_K, 15", "Q5_K_M, Q5_K, 17", "Q6_K, Q6_K, 18"})
  void mixesTypesAsLlamaCppDoes(PrecisionMix mix, DataType usual, int fileType) {
    try (GgufFile file = write(WIDE, mix, 1, "m.gguf")) {
      assertThat(file.metadata().integer("general.file_type")).isEqualTo(fileType);
      assertThat(file.metadata().string("general.name"))
          .isEqualTo("Random weights, wide %s, seed 1", mix);
      assertShape(file, "token_embd.weight", DataType.Q6_K, 256, 300);
      for (int layer = 0; layer < 16; layer++) {
        String block = "blk." + layer + ".";
        DataType finer = FINER_OF_16.contains(layer) ? DataType.Q6_K : usual;
        assertShape(file, block + "attn_norm.weight", DataType.F32, 256, 1);
        assertShape(file, block + "attn_q.weight", usual, 256, 256);
        assertShape(file, block + "attn_k.weight", usual, 256, 128);
        assertShape(file, block + "attn_v.weight", finer, 256, 128);
        assertShape(file, block + "attn_output.weight", usual, 256, 256);
        assertShape(file, block + "ffn_gate.weight", usual, 256, 512);
        assertShape(file, block + "ffn_up.weight", usual, 256, 512);
        assertShape(file, block + "ffn_down.weight", finer, 512, 256);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"Q4_K_M, Q4_K, Q5_0", "Q5_K_M, Q5_K, Q5_1", "Q6_K, Q6_K, Q8_0"})
  void givesRowsThatDoNotFitAKBlockWhatLlamaCppDoes(
      PrecisionMix mix, DataType usual, DataType narrow) {
    try (GgufFile file = write(NARROW, mix, 1, "m.gguf")) {
      assertShape(file, "token_embd.weight", DataType.Q8_0, 64, 300);
      for (int layer = 0; layer < 30; layer++) {
        String block = "blk." + layer + ".";
        DataType finer = FINER_OF_30.contains(layer) ? DataType.Q6_K : usual;
        for (String name : List.of("attn_q", "attn_k", "attn_output")) {
          assertShape(file, block + name + ".weight", narrow, 64, 64);
        }
        DataType values = finer == DataType.Q6_K ? DataType.Q8_0 : narrow;
        assertShape(file, block + "attn_v.weight", values, 64, 64);
        assertShape(file, block + "ffn_gate.weight", narrow, 64, 256);
        assertShape(file, block + "ffn_up.weight", narrow, 64, 256);
        assertShape(file, block + "ffn_down.weight", finer, 256, 64);
      }
    }
  }

  @Test
  void givesAnOutputOfItsOwnMoreBitsThanTheEmbedding() {
    Shape untied =
        new Shape("wide", "none", "qwen2", 1, 256, 4, 2, 256, 300, 64, 1e6f, 1e-6f, false, true);
    try (GgufFile file = write(untied, PrecisionMix.Q4_K_M, 1, "m.gguf")) {
      assertShape(file, "token_embd.weight", DataType.Q4_K, 256, 300);
      assertShape(file, "output.weight", DataType.Q6_K, 256, 300);
    }
  }

  @Test
  void mixesTheNamedShapesByTheirWidths() {
    Shape large = Synth.shapeOf("llama-1b");
    Shape small = Synth.shapeOf("llama-135m");

    assertThat(type(large, "blk.3.attn_q")).isEqualTo(DataType.Q4_K);
    assertThat(type(large, "token_embd")).isEqualTo(DataType.Q6_K);
    assertThat(finer(PrecisionMix.Q4_K_M, large, "attn_v")).isEqualTo(FINER_OF_16);
    assertThat(finer(PrecisionMix.Q5_K_M, large, "ffn_down")).isEqualTo(FINER_OF_16);
    assertThat(type(small, "blk.3.attn_q")).isEqualTo(DataType.Q5_0);
    assertThat(type(small, "token_embd")).isEqualTo(DataType.Q8_0);
    assertThat(finer(PrecisionMix.Q4_K_M, small, "attn_v")).isEmpty();
    assertThat(finer(PrecisionMix.Q4_K_M, small, "ffn_down")).isEqualTo(FINER_OF_30);
  }

  @Test
  void drawsWeightsOfTheDeviationThatTheirMatrixNeeds() {
    try (GgufFile file = write(LLAMA, PrecisionMix.F16, 1, "m.gguf")) {
      // 51,200 and 16,384 values: the mean's own deviation is under 1 % of theirs.
      double embedding = 1 / Math.sqrt(128);
      assertThat(deviation(file.require("token_embd.weight")))
          .isCloseTo(embedding, within(0.01 * embedding));
      double query = 2 / Math.sqrt(128);
      assertThat(deviation(file.require("blk.0.attn_q.weight")))
          .isCloseTo(query, within(0.02 * query));
    }
  }

  @Test
  void givesEachTensorWeightsOfItsOwn() {
    try (GgufFile file = write(LLAMA, PrecisionMix.F16, 1, "m.gguf")) {
      MemorySegment first = file.require("blk.0.ffn_gate.weight").data();
      assertThat(first.mismatch(file.require("blk.1.ffn_gate.weight").data())).isLessThan(16);
      assertThat(first.mismatch(file.require("blk.0.ffn_up.weight").data())).isLessThan(16);
    }
  }

  @Test
  void bringsAByteLevelVocabulary() {
    Map<String, Object> metadata = new SyntheticTokenizer(2000).metadata();
    List<?> tokens = (List<?>) metadata.get("tokenizer.ggml.tokens");
    List<?> merges = (List<?>) metadata.get("tokenizer.ggml.merges");
    Set<Object> distinct = new HashSet<>(tokens);

    assertThat(tokens).hasSize(2000).doesNotHaveDuplicates();
    assertThat(tokens.subList(0, 3).toString())
        .isEqualTo("[<|endoftext|>, <|im_start|>, <|im_end|>]");
    assertThat(distinct.containsAll(List.of("!", "~", "Ġ", "Ċ", "ÿ", "Ġthe", "Ġpeople"))).isTrue();
    assertThat(tokens.getLast().toString()).startsWith("<unused_");
    assertThat(merges).hasSize(512).doesNotHaveDuplicates();
    for (Object merge : merges) {
      String[] halves = merge.toString().split(" ", -1);
      assertThat(halves).hasSize(2);
      assertThat(distinct).contains(halves[0], halves[1], halves[0] + halves[1]);
    }
    assertThat((int[]) metadata.get("tokenizer.ggml.token_type"))
        .hasSize(2000)
        .startsWith(3, 3, 3, 1)
        .endsWith(1);
  }

  @Test
  void fitsFewMergesIntoASmallVocabulary() {
    Map<String, Object> metadata = new SyntheticTokenizer(260).metadata();

    assertThat((List<?>) metadata.get("tokenizer.ggml.merges")).hasSize(1);
    assertThatThrownBy(() -> new SyntheticTokenizer(258))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @EnumSource
  void knowsEveryMixByName(PrecisionMix mix) {
    assertThat(Synth.mixOf(mix.name())).isEqualTo(mix);
    assertThat(Synth.mixOf(mix.name().toLowerCase(Locale.ROOT))).isEqualTo(mix);
  }

  @Test
  void listsWhatItKnowsWhenANameIsUnknown() {
    assertThat(Synth.shapeOf("llama-1b").hidden()).isEqualTo(2048);
    assertThatThrownBy(() -> Synth.shapeOf("llama-2b"))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("llama-2b")
        .hasMessageContaining("llama-135m, llama-1b, qwen2-7b");
    assertThatThrownBy(() -> Synth.mixOf("Q4_K"))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("F16, BF16, Q8_0, Q4_0, Q4_K_M, Q5_K_M, Q6_K");
  }

  private GgufFile write(Shape shape, PrecisionMix mix, long seed, String name) {
    Path out = directory.resolve(name);
    Synth.write(shape, mix, seed, out, ProgressListener.NONE);
    return GgufFile.open(out);
  }

  /** The type of a matrix over the hidden state. */
  private static DataType type(Shape shape, String matrix) {
    return Synth.typeOf(shape, PrecisionMix.Q4_K_M, matrix + ".weight", shape.hidden());
  }

  /** Layers whose matrix of this name has Q6_K. */
  private static Set<Integer> finer(PrecisionMix mix, Shape shape, String matrix) {
    int columns = matrix.equals("ffn_down") ? shape.feedForward() : shape.hidden();
    return IntStream.range(0, shape.layers())
        .filter(
            layer ->
                Synth.typeOf(shape, mix, "blk.%d.%s.weight".formatted(layer, matrix), columns)
                    == DataType.Q6_K)
        .boxed()
        .collect(Collectors.toSet());
  }

  private static void assertShape(
      GgufFile file, String name, DataType type, long columns, long rows) {
    Tensor tensor = file.require(name);
    assertThat(tensor.type()).as(name).isEqualTo(type);
    assertThat(tensor.columns()).as(name).isEqualTo(columns);
    assertThat(tensor.rows()).as(name).isEqualTo(rows);
  }

  private static double deviation(Tensor tensor) {
    short[] values = tensor.data().toArray(ValueLayout.JAVA_SHORT);
    double squares = 0;
    for (short value : values) {
      double decoded = Float.float16ToFloat(value);
      squares += decoded * decoded;
    }
    return Math.sqrt(squares / values.length);
  }

  private static String sha256(Path file) throws IOException, NoSuchAlgorithmException {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    return HexFormat.of().formatHex(digest.digest(Files.readAllBytes(file)));
  }
}

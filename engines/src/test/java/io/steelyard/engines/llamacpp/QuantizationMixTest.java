package io.steelyard.engines.llamacpp;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.DataType;
import io.steelyard.models.ModelFile;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.gguf.GgufFile;
import io.steelyard.models.gguf.GgufWriter;
import io.steelyard.models.gguf.Metadata;
import io.steelyard.models.quantize.Quantizer;
import io.steelyard.models.quantize.Scheme;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each tensor gets the type that llama.cpp's own quantiser gives it. */
class QuantizationMixTest {
  /** Larger than the parameters are in any release; the library fills what it knows. */
  private static final MemoryLayout PARAMETERS = MemoryLayout.sequenceLayout(64, JAVA_LONG);

  private static final long THREADS = 0;
  private static final long FILE_TYPE = 4;
  private static final long ALLOW_REQUANTIZE = 16;

  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({
    "q4_0, 2",
    "q4_1, 3",
    "q8_0, 7",
    "q5_0, 8",
    "q5_1, 9",
    "q2_k, 10",
    "q3_k_s, 11",
    "q3_k_m, 12",
    "q3_k_l, 13",
    "q4_k_s, 14",
    "q4_k_m, 15",
    "q5_k_s, 16",
    "q5_k_m, 17",
    "q6_k, 18",
    "iq4_nl, 25",
    "iq4_xs, 30",
    "f16, 1",
    "bf16, 32"
  })
  void typesAreLlamaCpps(String scheme, int fileType) throws Exception {
    Path dir = Installed.installer().status().directory().orElseThrow();
    LoadedLibrary.load(dir);
    for (boolean shared : new boolean[] {false, true}) {
      for (int width : new int[] {256, 288}) {
        Path source = model("%s-%d.gguf".formatted(shared, width), shared, width);
        Path theirs = directory.resolve("theirs.gguf");
        assertThat(quantize(source, theirs, fileType)).isZero();
        Map<String, DataType> expected = new TreeMap<>();
        try (GgufFile file = GgufFile.open(theirs)) {
          file.tensors().forEach(tensor -> expected.put(tensor.name(), tensor.type()));
          assertThat(file.metadata().integer("general.file_type")).isEqualTo(fileType);
        }
        Map<String, DataType> actual = new TreeMap<>();
        try (ModelFile file = ModelFile.open(source)) {
          Quantizer.plan(file, Quantizer.Choice.of(Scheme.of(scheme)))
              .forEach(plan -> actual.put(plan.name(), plan.to()));
        }
        assertThat(actual)
            .as("%s, rows of %d, %s", scheme, width, shared ? "tied, shared heads" : "untied")
            .isEqualTo(expected);
      }
    }
  }

  /** A Llama in names and configuration; its matrices have four rows. */
  private Path model(String name, boolean shared, int width) throws IOException {
    Path path = directory.resolve(name);
    // llama.cpp tells of every row that is no multiple: one layer says it all.
    int layers = width % 256 == 0 ? 16 : 1;
    Files.deleteIfExists(path);
    Map<String, Object> values =
        Map.ofEntries(
            Map.entry("general.architecture", "llama"),
            Map.entry("llama.block_count", layers),
            Map.entry("llama.context_length", 128),
            Map.entry("llama.embedding_length", width),
            Map.entry("llama.feed_forward_length", width),
            Map.entry("llama.rope.dimension_count", width / 8),
            Map.entry("llama.attention.head_count", 8),
            Map.entry("llama.attention.head_count_kv", shared ? 2 : 8),
            Map.entry("llama.attention.layer_norm_rms_epsilon", 1e-5f),
            Map.entry("llama.vocab_size", 4));
    GgufWriter writer = new GgufWriter(new Metadata("test", values));
    add(writer, "token_embd.weight", width, 4);
    if (!shared) {
      add(writer, "output.weight", width, 4);
    }
    add(writer, "output_norm.weight", width);
    for (int layer = 0; layer < layers; layer++) {
      add(writer, "blk." + layer + ".attn_norm.weight", width);
      add(writer, "blk." + layer + ".ffn_norm.weight", width);
      for (String part :
          List.of("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")) {
        add(writer, "blk." + layer + "." + part + ".weight", width, 4);
      }
    }
    writer.write(path, ProgressListener.NONE);
    return path;
  }

  private static void add(GgufWriter writer, String name, long... dimensions) {
    writer.add(
        name,
        DataType.F32,
        dimensions,
        (from, part) -> {
          for (long i = 0; i < part.byteSize() / 4; i++) {
            part.setAtIndex(JAVA_FLOAT_UNALIGNED, i, (float) Math.sin((double) (from + i)));
          }
        });
  }

  private static int quantize(Path from, Path to, int fileType) {
    SymbolLookup symbols = SymbolLookup.loaderLookup();
    Linker linker = Linker.nativeLinker();
    MethodHandle defaults =
        linker.downcallHandle(
            symbols.find("llama_model_quantize_default_params").orElseThrow(),
            FunctionDescriptor.of(MemoryLayout.structLayout(PARAMETERS)));
    MethodHandle quantize =
        linker.downcallHandle(
            symbols.find("llama_model_quantize").orElseThrow(),
            FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment parameters = (MemorySegment) defaults.invoke((SegmentAllocator) arena);
      parameters.set(JAVA_INT, THREADS, 1);
      parameters.set(JAVA_INT, FILE_TYPE, fileType);
      parameters.set(JAVA_BOOLEAN, ALLOW_REQUANTIZE, true);
      return (int)
          quantize.invoke(
              arena.allocateFrom(from.toString()), arena.allocateFrom(to.toString()), parameters);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }
}

package io.steelyard.models.gguf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.ModelException;
import io.steelyard.models.ProgressListener;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GgufWriterTest {
  @TempDir Path directory;

  @Test
  void writesWhatTheReaderReads() {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("general.architecture", "llama");
    values.put("size", 576);
    values.put("negative", -1);
    values.put("wide", 1L << 40);
    values.put("byte", (byte) -3);
    values.put("short", (short) 300);
    values.put("epsilon", 1e-5f);
    values.put("exact", 0.1);
    values.put("on", true);
    values.put("off", false);
    values.put("tokens", List.of("a", "Ġb", "€", ""));
    values.put("types", new int[] {1, -2, 3});
    values.put("scores", new float[] {0.5f, -1});
    Path out = directory.resolve("m.gguf");
    new GgufWriter(new Metadata("m", values))
        .add("odd", DataType.F32, new long[] {3}, (from, part) -> part.fill((byte) 1))
        .add("cube", DataType.Q8_0, new long[] {32, 2, 5}, (from, part) -> part.fill((byte) 2))
        .write(out, ProgressListener.NONE);

    try (GgufFile file = GgufFile.open(out)) {
      Metadata read = file.metadata();
      assertThat(read.keys()).containsExactlyElementsOf(values.keySet());
      assertThat(read.string("general.architecture")).isEqualTo("llama");
      assertThat(read.type("size")).isEqualTo(ValueType.UINT32);
      assertThat(read.integer("size")).isEqualTo(576);
      assertThat(read.integer("negative")).isEqualTo(-1);
      assertThat(read.integer("wide")).isEqualTo(1L << 40);
      assertThat(read.integer("byte")).isEqualTo(-3);
      assertThat(read.integer("short")).isEqualTo(300);
      assertThat(read.raw("epsilon")).isEqualTo(1e-5f);
      assertThat(read.real("exact")).isEqualTo(0.1);
      assertThat(read.flag("on", false)).isTrue();
      assertThat(read.flag("off", true)).isFalse();
      assertThat(read.strings("tokens")).containsExactly("a", "Ġb", "€", "");
      assertThat(read.ints("types")).containsExactly(1, -2, 3);
      assertThat(read.floats("scores")).containsExactly(0.5f, -1f);
      assertThat(file.tensorNames()).containsExactly("odd", "cube");
      assertThat(file.require("odd").data().toArray(ValueLayout.JAVA_BYTE)).containsOnly(1);
      Tensor cube = file.require("cube");
      assertThat(cube.rows()).isEqualTo(10);
      assertThat(cube.data().toArray(ValueLayout.JAVA_BYTE)).hasSize(340).containsOnly(2);
      assertThat(cube.data().address() % 32).isZero();
    }
  }

  @Test
  void copiesMetadataAndTensorsOfAnotherFileExactly() throws IOException {
    byte[] original = GgufBytes.llama();
    Path out = directory.resolve("copy.gguf");
    try (GgufFile file = GgufFile.of(MemorySegment.ofArray(original), "original.gguf")) {
      GgufWriter writer = new GgufWriter(file.metadata());
      file.tensors().forEach(writer::add);
      writer.write(out, ProgressListener.NONE);
    }
    assertThat(Files.readAllBytes(out)).isEqualTo(original);
  }

  @Test
  void asksForALargeTensorInPartsOfWholeBlocks() {
    long rows = 40_000;
    Path out = directory.resolve("m.gguf");
    new GgufWriter(new Metadata("m", Map.of()))
        .add(
            "w",
            DataType.Q4_0,
            new long[] {32, rows},
            (from, part) -> {
              assertThat(from % 18).isZero();
              assertThat(part.byteSize() % 18).isZero();
              for (long block = 0; block < part.byteSize() / 18; block++) {
                part.set(ValueLayout.JAVA_INT_UNALIGNED, 18 * block, (int) (from / 18 + block));
              }
            })
        .write(out, ProgressListener.NONE);

    try (GgufFile file = GgufFile.open(out)) {
      MemorySegment data = file.require("w").data();
      for (long row = 0; row < rows; row++) {
        assertThat(data.get(ValueLayout.JAVA_INT_UNALIGNED, 18 * row)).isEqualTo((int) row);
      }
    }
  }

  @Test
  void reportsProgressUpToTheEnd() throws IOException {
    List<Long> heard = new ArrayList<>();
    Path out = directory.resolve("m.gguf");
    new GgufWriter(new Metadata("m", Map.of()))
        .add("w", DataType.F32, new long[] {1 << 20}, (from, part) -> {})
        .write(
            out,
            (done, total) -> {
              assertThat(done).isLessThanOrEqualTo(total);
              heard.add(done);
            });

    assertThat(heard).isSorted().hasSizeGreaterThan(10).last().isEqualTo(1L << 22);
    assertThat(Files.size(out)).isGreaterThan(1L << 22);
  }

  @Test
  void leavesTheOldFileAndNoPartWhenWritingFails() throws IOException {
    Path out = Files.writeString(directory.resolve("m.gguf"), "old");
    GgufWriter writer =
        new GgufWriter(new Metadata("m", Map.of()))
            .add(
                "w",
                DataType.F32,
                new long[] {8},
                (from, part) -> {
                  throw new UncheckedIOException(new IOException("No space left on device"));
                });

    assertThatThrownBy(() -> writer.write(out, ProgressListener.NONE))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("m.gguf")
        .hasMessageContaining("No space left on device");
    assertThat(out).hasContent("old");
    assertOnlyFile(out);
  }

  @Test
  void refusesAModelThatTheDiskCantHoldBeforeWriting() throws IOException {
    Path out = directory.resolve("m.gguf");
    GgufWriter writer =
        new GgufWriter(new Metadata("m", Map.of()))
            .add(
                "w",
                DataType.F32,
                new long[] {1L << 54},
                (from, part) -> {
                  throw new AssertionError("nothing should be asked for");
                });

    assertThatThrownBy(() -> writer.write(out, ProgressListener.NONE))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("bytes are free there");
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files).isEmpty();
    }
  }

  @Test
  void saysThatADirectoryIsMissing() {
    Path out = directory.resolve("absent/m.gguf");
    GgufWriter writer = new GgufWriter(new Metadata("m", Map.of()));

    assertThatThrownBy(() -> writer.write(out, ProgressListener.NONE))
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("there is no directory");
  }

  @Test
  void refusesImpossibleTensors() {
    GgufWriter writer =
        new GgufWriter(new Metadata("m", Map.of()))
            .add("w", DataType.F32, new long[] {1}, (from, part) -> {});

    assertThatThrownBy(() -> writer.add("w", DataType.F32, new long[] {1}, (from, part) -> {}))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> writer.add("v", DataType.Q8_0, new long[] {33}, (from, part) -> {}))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> writer.add("v", DataType.F32, new long[] {0}, (from, part) -> {}))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private void assertOnlyFile(Path only) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files).containsExactly(only);
    }
  }
}

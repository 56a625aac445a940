package io.steelyard.models.gguf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.models.ModelException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GgufFileTest {
  private static final int F32 = 0;
  private static final int Q4_0 = 2;

  @TempDir Path directory;

  @Test
  void readsAModelConvertedByLlamaCpp() throws IOException {
    Path path = Files.write(directory.resolve("llama.gguf"), GgufBytes.llama());
    try (GgufFile file = GgufFile.open(path)) {
      assertThat(file.path()).isEqualTo(path);
      assertThat(file.version()).isEqualTo(3);
      assertThat(file.fileSize()).isEqualTo(665_248);
      assertThat(file.metadata().string("general.architecture")).isEqualTo("llama");
      assertThat(file.metadata().integer("llama.attention.head_count")).isEqualTo(8);
      assertThat(file.metadata().real("llama.rope.freq_base", 0)).isEqualTo(500_000);
      assertThat(file.metadata().strings("tokenizer.ggml.tokens")).hasSize(320).contains("Ġ");
      assertThat(file.metadata().ints("tokenizer.ggml.token_type")).hasSize(320);
      Tensor down = file.require("blk.0.ffn_down.weight");
      assertThat(down.type()).isEqualTo(DataType.F32);
      assertThat(down.rows()).isEqualTo(64);
      assertThat(down.rowBytes()).isEqualTo(4 * down.columns());
      assertThat(down.data().isReadOnly()).isTrue();
      assertThat(file.tensorNames()).contains("output.weight", "rope_freqs.weight");
      assertThat(file.bytesByType()).containsOnlyKeys(DataType.F32);
      assertThat(file.parameters() * 4).isEqualTo(file.bytesByType().get(DataType.F32));
    }
  }

  @Test
  void readsAFileOfMoreThanTwoGibibytes() throws IOException {
    Path path = Files.write(directory.resolve("large.gguf"), GgufBytes.llama());
    try (RandomAccessFile sparse = new RandomAccessFile(path.toFile(), "rw")) {
      sparse.setLength(3L << 30);
    }
    try (GgufFile file = GgufFile.open(path)) {
      assertThat(file.fileSize()).isEqualTo(3L << 30);
      assertThat(file.require("blk.0.ffn_down.weight").rows()).isEqualTo(64);
    }
  }

  @Test
  void readsVersionTwo() {
    try (GgufFile file = GgufBytes.header(2, 0, 1).key("k", ValueType.UINT8).int8(7).open()) {
      assertThat(file.version()).isEqualTo(2);
      assertThat(file.metadata().integer("k")).isEqualTo(7);
    }
  }

  @Test
  void takesTheContiguousDimensionAsColumnsAndTheOthersAsRows() {
    try (GgufFile file =
        GgufBytes.header(3, 2, 0)
            .tensor("experts", Q4_0, 0, 64, 3, 2)
            .tensor("scalar", F32, 224)
            .data(224 + 4)
            .open()) {
      Tensor experts = file.require("experts");
      assertThat(experts.columns()).isEqualTo(64);
      assertThat(experts.rows()).isEqualTo(6);
      assertThat(experts.data().byteSize()).isEqualTo(6 * 36);
      assertThat(file.require("scalar").columns()).isEqualTo(1);
    }
  }

  @Test
  void followsTheAlignmentThatTheFileNames() {
    GgufBytes bytes =
        GgufBytes.header(3, 1, 1)
            .key("general.alignment", ValueType.UINT32)
            .int32(64)
            .tensor("t", F32, 0, 1);
    int header = bytes.bytes().length;
    int start = (header + 63) / 64 * 64;
    bytes.raw(new byte[start - header]).int32(Float.floatToRawIntBits(2.5f));
    try (GgufFile file = bytes.open()) {
      assertThat(file.require("t").data().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0)).isEqualTo(2.5f);
    }
  }

  @Test
  void namesAMissingTensor() {
    try (GgufFile file = GgufBytes.header(3, 0, 0).open()) {
      assertThat(file.tensor("output.weight")).isEmpty();
      assertThatThrownBy(() -> file.require("output.weight"))
          .isInstanceOf(ModelException.class)
          .hasMessageContaining("model.gguf")
          .hasMessageContaining("output.weight");
    }
  }

  @Test
  void refusesOneOfSeveralFilesUnderAnotherName() {
    assertThatThrownBy(
            () -> GgufBytes.header(3, 0, 1).key("split.count", ValueType.UINT16).int16(4).open())
        .isInstanceOf(ModelException.class)
        .hasMessageContaining("one of 4 files")
        .hasMessageContaining("NAME-00001-of-00004.gguf");
  }

  @Test
  void keepsMetadataAfterClosing() throws IOException {
    Path path = Files.write(directory.resolve("llama.gguf"), GgufBytes.llama());
    GgufFile file = GgufFile.open(path);
    Tensor tensor = file.require("output_norm.weight");
    file.close();

    assertThat(file.metadata().strings("tokenizer.ggml.tokens")).hasSize(320);
    assertThatThrownBy(() -> tensor.data().get(ValueLayout.JAVA_BYTE, 0))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void noticesThatItsFileWasOverwritten() throws IOException {
    Path path = Files.write(directory.resolve("m.gguf"), GgufBytes.llama());
    try (GgufFile file = GgufFile.open(path)) {
      assertThatCode(file::checkUnchanged).doesNotThrowAnyException();
      Files.write(path, new byte[10]);
      assertThatThrownBy(file::checkUnchanged)
          .isInstanceOf(ModelException.class)
          .hasMessageContaining("m.gguf was changed while it was in use");
    }
  }

  @Test
  void keepsItsDataWhenAnotherFileIsRenamedOverIt() throws IOException {
    byte[] bytes = GgufBytes.header(3, 1, 0).tensor("t", F32, 0, 8).data(32).bytes();
    bytes[bytes.length - 1] = 42;
    Path path = Files.write(directory.resolve("m.gguf"), bytes);
    Path other = Files.write(directory.resolve("other.gguf"), new byte[3]);
    try (GgufFile file = GgufFile.open(path)) {
      Files.move(other, path, StandardCopyOption.REPLACE_EXISTING);
      assertThat(file.require("t").data().get(ValueLayout.JAVA_BYTE, 31)).isEqualTo((byte) 42);
    }
  }

  @Test
  void saysThatThereIsNoFile() {
    assertRefused(directory.resolve("absent.gguf"), "absent.gguf", "there is no such file");
  }

  @Test
  void refusesADirectory() {
    assertRefused(directory, "is not a file");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3, 7})
  void refusesAFileTooShortForAHeader(int length) throws IOException {
    Path path = Files.write(directory.resolve("short.gguf"), new byte[length]);
    assertRefused(path, "short.gguf is damaged or incomplete", "only " + length + " bytes");
  }

  @Test
  void showsHowAFileOfAnotherFormatBegins() {
    assertRefused(new GgufBytes().raw("<!DOCTYPE html><html>"), "not a GGUF", "'<!DOCTYPE html>");
  }

  @ParameterizedTest
  @CsvSource({"1, version 1", "4, version 4", "-1, version 4294967295"})
  void refusesOtherVersions(int version, String expected) {
    assertRefused(GgufBytes.header(version, 0, 0), expected, "versions 2 to 3");
  }

  @Test
  void refusesBigEndianFiles() {
    assertRefused(GgufBytes.header(Integer.reverseBytes(3), 0, 0), "big-endian", "convert");
  }

  @Test
  void refusesAHeaderCutAnywhere() {
    byte[] whole = GgufBytes.llama();
    int header = 8_064;
    for (int length = 0; length < header; length += 7) {
      MemorySegment cut = MemorySegment.ofArray(whole).asSlice(0, length);
      assertThatThrownBy(() -> GgufFile.of(cut, "cut.gguf"))
          .as("cut to %d bytes", length)
          .isInstanceOf(ModelException.class)
          .hasMessageContaining("cut.gguf is damaged or incomplete");
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, Long.MAX_VALUE, 1L << 32, 100})
  void refusesCountsThatTheFileCantHold(long count) {
    assertRefused(GgufBytes.header(3, count, 0), "tensors, more than its");
    assertRefused(GgufBytes.header(3, 0, count), "metadata entries, more than its");
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, Long.MIN_VALUE, 1L << 40, 2})
  void refusesAStringLongerThanTheFile(long length) {
    assertRefused(
        GgufBytes.header(3, 0, 1).key("key", ValueType.STRING).int64(length).raw("x"),
        "the value of metadata key 'key'",
        "where 1 are left");
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, Long.MAX_VALUE, 1L << 61, 3})
  void refusesAnArrayLongerThanTheFile(long count) {
    assertRefused(
        GgufBytes.header(3, 0, 1)
            .key("key", ValueType.ARRAY)
            .int32(ValueType.FLOAT64.id())
            .int64(count)
            .raw(new byte[16]),
        "'key' claims an array",
        "16 bytes are left");
  }

  @Test
  void refusesArraysNestedWithoutEnd() {
    GgufBytes bytes = GgufBytes.header(3, 0, 1).key("deep", ValueType.ARRAY);
    for (int i = 0; i < 10_000; i++) {
      bytes.int32(ValueType.ARRAY.id()).int64(1);
    }
    assertRefused(bytes, "'deep' nests arrays more than");
  }

  @Test
  void refusesDuplicates() {
    assertRefused(
        GgufBytes.header(3, 0, 2)
            .key("key", ValueType.BOOL)
            .int8(1)
            .key("key", ValueType.BOOL)
            .int8(0),
        "metadata key 'key' appears twice");
    assertRefused(
        GgufBytes.header(3, 2, 0).tensor("t", F32, 0, 8).tensor("t", F32, 32, 8).data(64),
        "tensor 't' appears twice");
  }

  @Test
  void refusesAnUnknownValueType() {
    assertRefused(
        GgufBytes.header(3, 0, 1).string("key").int32(13).int64(0), "'key'", "value type 13");
  }

  @ParameterizedTest
  @CsvSource({"4, Q4_2", "32, Q4_0_4_8", "38, IQ4_NL_8_8", "999, number 999"})
  void namesATensorTypeThatItDoesntRead(int id, String name) {
    assertRefused(
        GgufBytes.header(3, 1, 0).tensor("w", id, 0, 256).data(512),
        "tensor 'w' has type " + name,
        "it reads F32, F16");
  }

  @Test
  void refusesATensorPastTheEnd() {
    assertRefused(
        GgufBytes.header(3, 1, 0).tensor("w", F32, 0, 9).data(32),
        "'w' needs 36 bytes",
        "past the file's end");
    assertRefused(
        GgufBytes.header(3, 1, 0).tensor("w", F32, 64, 1).data(32), "past the file's end");
    assertRefused(
        GgufBytes.header(3, 1, 0).tensor("w", F32, -32, 1).data(32), "past the file's end");
    assertRefused(GgufBytes.header(3, 1, 0).tensor("w", F32, 0, 1), "past the file's end");
  }

  @Test
  void refusesShapesBeyondAnySize() {
    assertRefused(
        GgufBytes.header(3, 1, 0).tensor("w", F32, 0, 1L << 32, 1L << 32).data(32),
        "'w' is beyond any size");
    assertRefused(
        GgufBytes.header(3, 1, 0).tensor("w", F32, 0, 2, Long.MAX_VALUE).data(32),
        "'w' is beyond any size");
    assertRefused(
        GgufBytes.header(3, 1, 0).tensor("w", F32, 0, 4, 0).data(32),
        "dimension 1 of tensor 'w' is 0");
    assertRefused(
        GgufBytes.header(3, 1, 0).tensor("w", F32, 0, -4).data(32), "dimension 0 of tensor 'w'");
    assertRefused(
        GgufBytes.header(3, 1, 0).tensor("w", F32, 0, 1, 1, 1, 1, 1).data(32), "5 dimensions");
  }

  @Test
  void refusesRowsThatAreNoWholeBlocks() {
    assertRefused(
        GgufBytes.header(3, 1, 0).tensor("w", Q4_0, 0, 33).data(64),
        "rows of 33 values",
        "32 values in a block of Q4_0");
  }

  @Test
  void refusesMisalignedAndOverlappingTensors() {
    assertRefused(
        GgufBytes.header(3, 1, 0).tensor("w", F32, 4, 1).data(32), "not aligned to 32 bytes");
    assertRefused(
        GgufBytes.header(3, 2, 0).tensor("a", F32, 0, 16).tensor("b", F32, 32, 8).data(64),
        "'a' and 'b' overlap");
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 3, -32, 1L << 40})
  void refusesAnImpossibleAlignment(long alignment) {
    assertRefused(
        GgufBytes.header(3, 0, 1).key("general.alignment", ValueType.INT64).int64(alignment),
        "general.alignment is " + alignment);
  }

  @Test
  void readsStringsThatAreNotUtf8() {
    byte[] cut = {(byte) 0xE2, (byte) 0x82};
    try (GgufFile file =
        GgufBytes.header(3, 0, 1)
            .key("tokens", ValueType.ARRAY)
            .int32(ValueType.STRING.id())
            .int64(2)
            .int64(2)
            .raw(cut)
            .string("€")
            .open()) {
      List<String> tokens = file.metadata().strings("tokens");
      assertThat(tokens.get(0)).isEqualTo("\uFFFD");
      assertThat(tokens.get(1)).isEqualTo("€");
    }
  }

  @Test
  void keepsControlCharactersOutOfMessages() {
    assertThatThrownBy(
            () -> GgufBytes.header(3, 0, 1).string("a\u001b[31m\nb").int32(99).int64(0).open())
        .hasMessageContaining("'a?[31m?b'");
  }

  @Test
  void showsNestedArraysForInspection() {
    try (GgufFile file =
        GgufBytes.header(3, 0, 1)
            .key("nested", ValueType.ARRAY)
            .int32(ValueType.ARRAY.id())
            .int64(2)
            .int32(ValueType.UINT8.id())
            .int64(2)
            .int8(1)
            .int8(255)
            .int32(ValueType.STRING.id())
            .int64(1)
            .string("x")
            .open()) {
      assertThat(file.metadata().raw("nested")).isEqualTo(List.of(List.of(1L, 255L), List.of("x")));
    }
  }

  @Test
  void listsMetadataInTheOrderOfTheFile() {
    Metadata metadata = new Metadata("m", Map.of());
    assertThat(metadata.keys()).isEmpty();
    try (GgufFile file =
        GgufBytes.header(3, 0, 2)
            .key("z", ValueType.BOOL)
            .int8(1)
            .key("a", ValueType.BOOL)
            .int8(0)
            .open()) {
      assertThat(file.metadata().keys()).containsExactly("z", "a");
    }
  }

  private static void assertRefused(GgufBytes bytes, String... fragments) {
    assertThatThrownBy(bytes::open)
        .isInstanceOf(ModelException.class)
        .hasMessageContainingAll(fragments)
        .hasMessageContaining("model.gguf");
  }

  private static void assertRefused(Path path, String... fragments) {
    assertThatThrownBy(() -> GgufFile.open(path))
        .isInstanceOf(ModelException.class)
        .hasMessageContainingAll(fragments);
  }
}

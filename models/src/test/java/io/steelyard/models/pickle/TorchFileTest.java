package io.steelyard.models.pickle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.models.ModelException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The archive around a pickle, and tensors held against their storages. */
class TorchFileTest {
  /** make.py beside it says how it was made. */
  static byte[] resource(String name) throws IOException {
    try (InputStream in = TorchFileTest.class.getResourceAsStream(name)) {
      return in.readAllBytes();
    }
  }

  private static Map<String, PickledTensor> read(byte[] file) {
    Map<String, PickledTensor> tensors = new LinkedHashMap<>();
    TorchFile.read("some.bin", MemorySegment.ofArray(file))
        .forEach(tensor -> tensors.put(tensor.name(), tensor));
    return tensors;
  }

  @ParameterizedTest
  @ValueSource(strings = {"types.bin", "types-protocol4.bin"})
  void readsEveryTypeOfStorage(String name) throws IOException {
    Map<String, PickledTensor> tensors = read(resource(name));
    for (String type : "F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL".split(" ", -1)) {
      PickledTensor tensor = tensors.get(type);
      assertThat(tensor.type()).isEqualTo(type);
      assertThat(tensor.shape()).containsExactly(2, 3);
      byte[] data = tensor.data().toArray(ValueLayout.JAVA_BYTE);
      for (int i = 0; i < data.length; i++) {
        assertThat(data[i]).isEqualTo((byte) i);
      }
    }
    assertThat(floats(tensors.get("whole"))).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
    assertThat(floats(tensors.get("tied"))).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
    assertThat(floats(tensors.get("second half"))).containsExactly(4, 5, 6, 7);
    assertThat(tensors.get("scalar").shape()).isEmpty();
    assertThat(floats(tensors.get("scalar"))).containsExactly(3);
    assertThat(tensors.get("empty").data().byteSize()).isZero();
    assertThat(tensors.get("parameter").type()).isEqualTo("F16");
  }

  private static float[] floats(PickledTensor tensor) {
    return tensor
        .data()
        .toArray(ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN));
  }

  /** An archive with a tensor {@code t} of float32. */
  private static byte[] tensor(int offset, int[] sizes, int[] strides, int count, int bytes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(
        ascii(
            "\u0080\u0002}X\u0001\0\0\0tctorch._utils\n_rebuild_tensor_v2\n((X\u0007\0\0\0storage"));
    out.writeBytes(ascii("ctorch\nFloatStorage\nX\u0001\0\0\0" + "0X\u0003\0\0\0cpu"));
    integer(out, count);
    out.writeBytes(ascii("tQ"));
    integer(out, offset);
    for (int[] each : new int[][] {sizes, strides}) {
      out.write('(');
      for (int value : each) {
        integer(out, value);
      }
      out.write('t');
    }
    out.writeBytes(ascii("tRs."));
    return zip(
        ZipEntry.STORED, Map.of("x/data.pkl", out.toByteArray(), "x/data/0", new byte[bytes]));
  }

  private static void integer(ByteArrayOutputStream out, int value) {
    out.write('J');
    out.writeBytes(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array());
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static byte[] zip(int method, Map<String, byte[]> entries) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(out)) {
      for (Map.Entry<String, byte[]> each : entries.entrySet()) {
        ZipEntry entry = new ZipEntry(each.getKey());
        CRC32 sum = new CRC32();
        sum.update(each.getValue());
        entry.setMethod(method);
        entry.setSize(each.getValue().length);
        entry.setCrc(sum.getValue());
        zip.putNextEntry(entry);
        zip.write(each.getValue());
        zip.closeEntry();
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return out.toByteArray();
  }

  private static void assertRefused(byte[] file, String... said) {
    assertThatThrownBy(() -> read(file))
        .isInstanceOf(ModelException.class)
        .hasMessageStartingWith("some.bin")
        .message()
        .contains(said);
  }

  @Test
  void aTensorMustLieInItsStorage() {
    assertThat(read(tensor(1, new int[] {2, 3}, new int[] {3, 1}, 7, 28))).containsKey("t");
    assertRefused(
        tensor(2, new int[] {2, 3}, new int[] {3, 1}, 7, 28),
        "'t' needs 6 elements from element 2 of a storage of 7");
    assertRefused(tensor(-1, new int[] {1}, new int[] {1}, 7, 28), "from element -1");
    assertRefused(tensor(8, new int[] {0}, new int[] {1}, 7, 28), "from element 8");
    assertRefused(
        tensor(0, new int[] {2}, new int[] {1}, 9, 28), "claims 9 elements where it has 7");
    assertRefused(tensor(0, new int[] {2}, new int[] {1}, -1, 28), "claims -1 elements");
    assertRefused(
        tensor(0, new int[] {2, 2}, new int[] {-2, 1}, 7, 28), "has size 2 and stride -2");
    assertRefused(tensor(0, new int[] {-2}, new int[] {1}, 7, 28), "has size -2");
    assertRefused(tensor(0, new int[] {2}, new int[] {}, 7, 28), "1 sizes and 0 strides");
    assertRefused(
        tensor(0, new int[] {3, 2}, new int[] {1, 3}, 7, 28),
        "don't lie in order",
        "[3, 2]",
        "[1, 3]");
    assertRefused(tensor(0, new int[] {1000}, new int[] {0}, 7, 28), "don't lie in order");
    int most = Integer.MAX_VALUE;
    assertRefused(
        tensor(0, new int[] {most, most, most}, new int[] {0, 0, 1}, 7, 28), "beyond any size");
    assertRefused(tensor(0, new int[9], new int[9], 7, 28), "9 dimensions");
  }

  @Test
  void manyTensorsOverTheSameBytesAreNoModel() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(ascii("}ctorch._utils\n_rebuild_tensor_v2\n((X\u0007\0\0\0storage"));
    out.writeBytes(ascii("ctorch\nFloatStorage\nX\u0001\0\0\0" + "0X\u0003\0\0\0cpu"));
    out.writeBytes(ascii("M\0 tQK\0M\0 \u0085K\u0001\u0085tRq\0" + "0"));
    for (int i = 0; i < 9; i++) {
      out.writeBytes(ascii("X\u0001\0\0\0" + i + "h\0s"));
    }
    out.write('.');
    assertRefused(
        zip(
            ZipEntry.STORED,
            Map.of("x/data.pkl", out.toByteArray(), "x/data/0", new byte[4 * 0x2000])),
        "more than twice its own bytes");
  }

  @Test
  void whatIsNoFileOfPyTorchsIsToldApart() {
    byte[] tar = new byte[512];
    System.arraycopy(ascii("ustar"), 0, tar, 257, 5);
    assertRefused(tar, "is a tar archive, PyTorch's format of before 1.6", "safetensors");
    assertRefused(new byte[] {(byte) 0x80, 2, (byte) 0x8a, 10}, "is a bare pickle", "before 1.6");
    assertRefused(new byte[0], "it has 0 bytes");
    assertRefused(ascii("GGUF1234"), "is no ZIP archive");
    byte[] none = ascii("}.");
    assertThat(read(zip(ZipEntry.STORED, Map.of("x/data.pkl", none)))).isEmpty();
    assertRefused(zip(ZipEntry.DEFLATED, Map.of("x/data.pkl", none)), "'x/data.pkl' is compressed");
    assertRefused(zip(ZipEntry.STORED, Map.of("x/other", none)), "0 entries data.pkl");
    assertRefused(
        zip(ZipEntry.STORED, Map.of("x/data.pkl", none, "y/data.pkl", none)), "2 entries");
    assertRefused(
        zip(ZipEntry.STORED, Map.of("x/data.pkl", none, "x/byteorder", ascii("big"))),
        "the order 'big'");
    assertRefused(
        zip(ZipEntry.STORED, Map.of("x/data.pkl", none, "x/constants.pkl", none)), "TorchScript");
    assertRefused(zip(ZipEntry.STORED, Map.of("x/data.pkl", ascii("N."))), "no dictionary");
    assertRefused(
        zip(ZipEntry.STORED, Map.of("x/data.pkl", ascii("}X\u0005\0\0\0epochK\u0003s."))),
        "'epoch' is no tensor");
  }

  @ParameterizedTest
  @CsvSource({
    "-10, 100000, 100000 entries",
    "-12, 9, entry 1 of its directory",
    "-6, 7, isn't where it says"
  })
  void aDirectoryThatLiesIsRefused(int fromEnd, int value, String said) {
    byte[] file = zip(ZipEntry.STORED, Map.of("x/data.pkl", ascii("}.")));
    ByteBuffer buffer = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    if (value > 65_535) {
      byte[] large =
          ByteBuffer.allocate(56 + 20)
              .order(ByteOrder.LITTLE_ENDIAN)
              .putInt(0, 0x06064b50)
              .putLong(32, 400_000)
              .putInt(56, 0x07064b50)
              .putLong(64, file.length - 22L)
              .array();
      byte[] both = new byte[file.length + large.length];
      System.arraycopy(file, 0, both, 0, file.length - 22);
      System.arraycopy(large, 0, both, file.length - 22, large.length);
      System.arraycopy(file, file.length - 22, both, file.length - 22 + large.length, 22);
      assertRefused(both, "it claims 400000 entries");
      return;
    }
    buffer.putShort(file.length + fromEnd, (short) value);
    assertRefused(file, "damaged or incomplete", said);
  }
}

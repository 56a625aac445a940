package io.steelyard.kernels.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(
    value = OS.LINUX,
    disabledReason = "not applicable here: only Linux says what is mapped")
class StartPagesTest {
  private static final int BYTES = 64 << 20;

  @Test
  void releasesWhatWasReadOfACacheOfClassesAndKeepsWhatWasWritten(@TempDir Path folder)
      throws IOException {
    assertThat(released(folder.resolve("classes.aot"))).isGreaterThan(BYTES / 1024 / 2);
  }

  @Test
  void leavesFilesAloneThatMayBeUnmapped(@TempDir Path folder) throws IOException {
    assertThat(released(folder.resolve("model.gguf"))).isLessThan(BYTES / 1024 / 2);
  }

  /** How much less memory is in use when a mapped file has been read and all is released, in KB. */
  private static long released(Path file) throws IOException {
    byte[] bytes = new byte[BYTES];
    bytes[BYTES / 2] = 42;
    Files.write(file, bytes);
    try (Arena arena = Arena.ofConfined();
        FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MemorySegment read = channel.map(MapMode.READ_ONLY, 0, BYTES, arena);
      MemorySegment written = channel.map(MapMode.PRIVATE, 0, BYTES, arena);
      written.set(ValueLayout.JAVA_BYTE, 1, (byte) 7);
      for (long at = 0; at < BYTES; at += 4096) {
        assertThat(read.get(ValueLayout.JAVA_BYTE, at)).isEqualTo(bytes[(int) at]);
      }
      long before = resident();
      StartPages.release();
      long released = before - resident();
      assertThat(read.get(ValueLayout.JAVA_BYTE, BYTES / 2)).isEqualTo((byte) 42);
      assertThat(written.get(ValueLayout.JAVA_BYTE, 1)).isEqualTo((byte) 7);
      return released;
    }
  }

  /** Memory in use that files are the source of, in KB. */
  private static long resident() throws IOException {
    List<String> lines = Files.readAllLines(Path.of("/proc/self/status"));
    String line =
        lines.stream().filter(each -> each.startsWith("RssFile:")).findFirst().orElseThrow();
    return Long.parseLong(line.replaceAll("[^0-9]", ""));
  }
}

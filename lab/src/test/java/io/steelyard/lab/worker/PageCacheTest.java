package io.steelyard.lab.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PageCacheTest {
  private static final int PAGES = 16;
  private static final int BYTES = 4096 * PAGES;

  @TempDir private Path folder;

  private Path file(String name) throws IOException {
    byte[] bytes = new byte[BYTES];
    bytes[BYTES - 1] = 7;
    return Files.write(folder.resolve(name), bytes);
  }

  @Test
  void whatIsDroppedIsReadAgain() throws IOException {
    Path file = file("a");

    assertThat(PageCache.drop(file)).isBetween(0.0, 1.0);
    assertThat(Files.readAllBytes(file)[BYTES - 1]).isEqualTo((byte) 7);
  }

  @Test
  void aFolderIsItsFiles() throws IOException {
    Path _ = file("a");
    Path _ = file("b");
    Files.createDirectory(folder.resolve("empty"));

    assertThat(PageCache.drop(folder)).isBetween(0.0, 1.0);
    assertThat(PageCache.drop(folder.resolve("empty"))).isZero();
  }

  @Test
  void pagesInUseStay() throws IOException {
    Path file = file("a");
    try (FileChannel channel = FileChannel.open(file);
        Arena arena = Arena.ofConfined()) {
      MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, BYTES, arena);
      long sum = 0;
      for (int page = 0; page < PAGES; page++) {
        sum += mapped.get(ValueLayout.JAVA_BYTE, 4096L * page + 4095);
      }
      assertThat(sum).isEqualTo(7);

      assertThat(PageCache.drop(file)).isEqualTo(1);
      assertThat(ProcessMemory.mapped(ProcessHandle.current().pid(), file)).isEqualTo(BYTES);
      assertThat(ProcessMemory.mapped(ProcessHandle.current().pid(), folder)).isEqualTo(BYTES);
    }
  }

  @Test
  void aFileThatIsNotThereIsSaid() {
    assertThatThrownBy(() -> PageCache.drop(folder.resolve("none")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("none");
  }
}

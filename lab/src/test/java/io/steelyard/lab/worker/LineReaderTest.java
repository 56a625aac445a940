package io.steelyard.lab.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LineReaderTest {
  @Test
  void linesOfAnyLengthComeBackWholeHoweverTheyArrive() throws IOException {
    Random random = new Random(3);
    byte[][] lines = new byte[200][];
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < lines.length; i++) {
      String line = "x".repeat(random.nextInt(i % 10 == 0 ? 200_000 : 50));
      lines[i] = line.getBytes(StandardCharsets.UTF_8);
      text.append(line).append('\n');
    }
    LineReader reader = new LineReader(dripping(text.toString(), random), 200_000);
    for (byte[] line : lines) {
      assertThat(reader.next().orElseThrow().bytes()).isEqualTo(line);
    }
    assertThat(reader.next()).isEmpty();
  }

  @Test
  void aLineOfTheLimitIsReadAndOneByteMoreIsRefusedAndSkipped() throws IOException {
    String text = "a".repeat(100_000) + "\n" + "b".repeat(100_001) + "\nc\n";
    LineReader reader = new LineReader(dripping(text, new Random(4)), 100_000);
    assertThat(reader.next().orElseThrow().bytes()).hasSize(100_000);
    assertThatThrownBy(reader::next).isInstanceOf(LineReader.TooLongException.class);
    assertThat(text(reader.next())).isEqualTo("c");
    assertThat(reader.next()).isEmpty();
  }

  @Test
  void aLastLineWithoutAnEndIsDropped() throws IOException {
    LineReader reader = new LineReader(dripping("one\ntwo", new Random(5)), 10);
    assertThat(text(reader.next())).isEqualTo("one");
    assertThat(reader.next()).isEmpty();
  }

  private static String text(Optional<LineReader.Line> line) {
    return new String(line.orElseThrow().bytes(), StandardCharsets.UTF_8);
  }

  /** Gives the bytes in pieces of random sizes, as a pipe does. */
  private static InputStream dripping(String text, Random random) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return new ByteArrayInputStream(Arrays.copyOf(bytes, bytes.length)) {
      @Override
      public synchronized int read(byte[] into, int offset, int length) {
        return super.read(into, offset, Math.min(length, 1 + random.nextInt(70_000)));
      }
    };
  }
}

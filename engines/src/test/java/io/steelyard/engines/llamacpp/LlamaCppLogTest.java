package io.steelyard.engines.llamacpp;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class LlamaCppLogTest {
  private static final int INFO = 2;
  private static final int ERROR = 4;
  private static final int CONTINUED = 5;

  private final LlamaCppLog log = new LlamaCppLog();

  @Test
  void addsUpBuffersOfOneKind() {
    log.append(INFO, "load_tensors:   CPU_Mapped model buffer size =    92.10 MiB\n");
    log.append(INFO, "load_tensors:   CPU_REPACK model buffer size =    10.40 MiB\n");
    log.append(INFO, "llama_kv_cache:        CPU KV buffer size =    22.50 MiB\n");
    assertThat(log.bufferBytes("model")).isEqualTo(Math.round(102.5 * 1024 * 1024));
    assertThat(log.bufferBytes("KV")).isEqualTo(22_5L * 1024 * 1024 / 10);
    assertThat(log.bufferBytes("compute")).isZero();
  }

  @Test
  void joinsAndSplitsLines() {
    log.append(INFO, "first ");
    log.append(CONTINUED, "half\nsecond");
    log.append(INFO, "third\n");
    assertThat(log.mentions("first half")).isTrue();
    assertThat(log.mentions("halfsecond")).isFalse();
    assertThat(log.mentions("second")).isTrue();
    assertThat(log.mentions("secondthird")).isFalse();
  }

  @Test
  void remembersTheFirstErrorUntilCleared() {
    log.append(ERROR, "the cause\n");
    log.append(ERROR, "its consequence\n");
    assertThat(log.cause()).contains("the cause");
    log.clear();
    assertThat(log.cause()).isEmpty();
  }

  @Test
  void survivesTextThatIsNoUnicode() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment text = arena.allocate(4);
      text.set(java.lang.foreign.ValueLayout.JAVA_BYTE, 0, (byte) 0xff);
      text.set(java.lang.foreign.ValueLayout.JAVA_BYTE, 1, (byte) '!');
      log.accept(INFO, text, MemorySegment.NULL);
    }
    assertThat(log.mentions("!")).isTrue();
  }

  @Test
  void keepsALineWithoutEndShort() {
    for (int i = 0; i < 100; i++) {
      log.append(i == 0 ? INFO : CONTINUED, "x".repeat(1000));
    }
    assertThat(log.mentions("x".repeat(4000))).isTrue();
    assertThat(log.mentions("x".repeat(6000))).isFalse();
  }
}

package io.steelyard.kernels.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.kernels.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

final class MemoryPoolTest {
  @Test
  void shouldUseAPieceAgainAndCountIt() {
    try (MemoryPool pool = MemoryPool.pooled()) {
      long first;
      try (MemoryPool.Piece piece = pool.take(10_000)) {
        first = piece.address();
        assertThat(piece.memory().byteSize()).isEqualTo(10_000);
      }
      try (MemoryPool.Piece piece = pool.take(9_500)) {
        assertThat(piece.address()).isEqualTo(first);
        MemoryPool.Statistics statistics = pool.statistics();
        assertThat(statistics.allocations()).isEqualTo(1);
        assertThat(statistics.reuses()).isEqualTo(1);
        assertThat(statistics.usedBytes()).isEqualTo(MemoryPool.sizeClass(10_000));
        assertThat(statistics.fragmentation()).isBetween(0.05, 0.3);
      }
      assertThat(pool.statistics().usedBytes()).isZero();
    }
  }

  @Test
  void shouldBeginOnCacheLinesAndWasteAtMostAFourth() {
    try (MemoryPool pool = MemoryPool.pooled()) {
      for (long bytes = 0; bytes < 3_000_000; bytes = bytes * 5 / 4 + 1) {
        try (MemoryPool.Piece piece = pool.take(bytes)) {
          assertThat(piece.address() % 64).isZero();
          assertThat(MemoryPool.sizeClass(bytes))
              .isBetween(bytes, Math.max(4096, bytes * 5 / 4 + 64));
        }
      }
    }
  }

  @Test
  void shouldHandBackWhatWasInAPieceUnlessAskedForZeros() {
    try (MemoryPool pool = MemoryPool.pooled()) {
      try (MemoryPool.Piece piece = pool.take(4096)) {
        piece.memory().fill((byte) 7);
      }
      try (MemoryPool.Piece piece = pool.take(4096)) {
        assertThat(piece.memory().get(ValueLayout.JAVA_BYTE, 100)).isEqualTo((byte) 7);
      }
      try (MemoryPool.Piece piece = pool.takeCleared(4096)) {
        assertThat(piece.memory().mismatch(MemorySegment.ofArray(new byte[4096]))).isEqualTo(-1);
      }
    }
  }

  @Test
  void shouldPoisonWhatNobodyHasWritten() {
    try (MemoryPool pool = MemoryPool.poisoned();
        MemoryPool.Piece piece = pool.take(64)) {
      for (int i = 0; i < 16; i++) {
        assertThat(piece.memory().getAtIndex(ValueLayout.JAVA_FLOAT, i)).isNaN();
      }
      for (int i = 0; i < 32; i++) {
        assertThat(Oracle.value(piece.memory(), DataType.F16, i)).isNaN();
        assertThat(Oracle.value(piece.memory(), DataType.BF16, i)).isNaN();
      }
    }
  }

  @Test
  void shouldKeepNothingWhereItDoesNotPool() {
    try (MemoryPool pool = MemoryPool.unpooled()) {
      pool.take(1 << 20).close();
      pool.take(1 << 20).close();
      assertThat(pool.statistics().allocations()).isEqualTo(2);
      assertThat(pool.statistics().reuses()).isZero();
      assertThat(pool.statistics().heldBytes()).isZero();
    }
  }

  @Test
  void shouldGiveAllMemoryBackWhenItIsClosed() {
    MemoryPool pool = MemoryPool.pooled();
    MemoryPool.Piece out = pool.take(1 << 20);
    pool.take(1 << 20).close();
    pool.close();
    assertThat(pool.statistics().heldBytes()).isEqualTo(1 << 20);
    out.close();
    assertThat(pool.statistics().heldBytes()).isZero();
    assertThatThrownBy(() -> pool.take(1)).hasMessageContaining("closed");
  }

  @Test
  void shouldTakeTwoClosingsOfAPieceForOne() {
    try (MemoryPool pool = MemoryPool.pooled()) {
      MemoryPool.Piece piece = pool.take(4096);
      piece.close();
      piece.close();
      try (MemoryPool.Piece a = pool.take(4096);
          MemoryPool.Piece b = pool.take(4096)) {
        assertThat(a.address()).isNotEqualTo(b.address());
      }
    }
  }

  /** Every thread writes its own mark all over its pieces and finds nothing else there. */
  @Test
  void shouldGiveNoPieceToTwoThreads() throws Exception {
    try (MemoryPool pool = MemoryPool.pooled();
        ExecutorService threads = Executors.newFixedThreadPool(8)) {
      List<Future<?>> all = new ArrayList<>();
      for (int thread = 0; thread < 8; thread++) {
        byte mark = (byte) (thread + 1);
        all.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 2000; i++) {
                    try (MemoryPool.Piece piece = pool.take(4096 + 512L * (i % 5))) {
                      piece.memory().fill(mark);
                      Thread.onSpinWait();
                      byte[] seen = piece.memory().toArray(ValueLayout.JAVA_BYTE);
                      for (byte one : seen) {
                        assertThat(one == mark).isTrue();
                      }
                    }
                  }
                }));
      }
      for (Future<?> one : all) {
        one.get();
      }
      assertThat(pool.statistics().usedBytes()).isZero();
      assertThat(pool.statistics().allocations() + pool.statistics().reuses()).isEqualTo(16_000);
    }
  }
}

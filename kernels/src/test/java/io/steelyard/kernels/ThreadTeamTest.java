package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ThreadTeamTest {
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 7})
  void everyMemberRunsEveryTaskOnce(int threads) {
    try (ThreadTeam team = new ThreadTeam(threads)) {
      AtomicIntegerArray runs = new AtomicIntegerArray(threads);
      for (int i = 0; i < 2000; i++) {
        team.run(
            (member, members) -> {
              assertThat(members).isEqualTo(threads);
              runs.incrementAndGet(member);
            });
      }
      for (int member = 0; member < threads; member++) {
        assertThat(runs.get(member)).isEqualTo(2000);
      }
    }
  }

  @Test
  void theCallerIsMemberZero() {
    Thread caller = Thread.currentThread();
    AtomicReference<Thread> zero = new AtomicReference<>();
    try (ThreadTeam team = new ThreadTeam(3)) {
      team.run(
          (member, members) -> {
            if (member == 0) {
              zero.set(Thread.currentThread());
            }
          });
    }
    assertThat(zero.get()).isSameAs(caller);
  }

  @Test
  void resultsAreVisibleToTheCaller() {
    int[] plain = new int[3];
    try (ThreadTeam team = new ThreadTeam(3)) {
      for (int i = 1; i <= 5000; i++) {
        int value = i;
        team.run((member, members) -> plain[member] = value);
        assertThat(plain).containsOnly(value);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aMembersExceptionReachesTheCallerAndTheTeamGoesOn(int failing) {
    try (ThreadTeam team = new ThreadTeam(3)) {
      assertThatThrownBy(
              () ->
                  team.run(
                      (member, members) -> {
                        if (member == failing) {
                          throw new IllegalArgumentException("member " + member);
                        }
                      }))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("member " + failing);

      AtomicInteger runs = new AtomicInteger();
      team.run((member, members) -> runs.incrementAndGet());
      assertThat(runs).hasValue(3);
    }
  }

  @Test
  void furtherExceptionsAreSuppressed() {
    try (ThreadTeam team = new ThreadTeam(4)) {
      assertThatThrownBy(
              () ->
                  team.run(
                      (member, members) -> {
                        throw new IllegalStateException("member " + member);
                      }))
          .satisfies(thrown -> assertThat(thrown.getSuppressed()).hasSize(3));
    }
  }

  @Test
  void aTaskInsideATaskIsRefused() {
    try (ThreadTeam team = new ThreadTeam(2)) {
      assertThatThrownBy(() -> team.run((member, members) -> team.run((inner, innerMembers) -> {})))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("busy");
    }
  }

  @Test
  void aSecondCallerIsRefusedWhileATaskRuns() throws InterruptedException {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    try (ThreadTeam team = new ThreadTeam(2)) {
      Thread first =
          Thread.ofPlatform()
              .start(
                  () ->
                      team.run(
                          (member, members) -> {
                            started.countDown();
                            await(release);
                          }));
      await(started);
      assertThatThrownBy(() -> team.run((member, members) -> {}))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(team::close).isInstanceOf(IllegalStateException.class);
      release.countDown();
      first.join();
    }
  }

  @Test
  void closingEndsTheThreads() {
    AtomicReference<Thread> worker = new AtomicReference<>();
    ThreadTeam team = new ThreadTeam(2);
    team.run(
        (member, members) -> {
          if (member == 1) {
            worker.set(Thread.currentThread());
          }
        });
    team.close();
    team.close();
    assertThat(worker.get().isAlive()).isFalse();
    assertThatThrownBy(() -> team.run((member, members) -> {}))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  /** A member that kept spinning would take all of the time that passes. */
  @Test
  void membersSleepWhenThereIsNothingToDo() throws InterruptedException {
    ThreadMXBean times = ManagementFactory.getThreadMXBean();
    assumeTrue(
        times.isThreadCpuTimeSupported(), "not applicable here: this JVM can't tell CPU times");
    // As many as spin after a task, where there are several processors.
    int threads = Math.clamp(Runtime.getRuntime().availableProcessors(), 2, 4);
    try (ThreadTeam team = new ThreadTeam(threads)) {
      AtomicLongArray ids = new AtomicLongArray(threads);
      for (int i = 0; i < 100; i++) {
        team.run((member, members) -> ids.set(member, Thread.currentThread().threadId()));
      }
      long[] before = new long[threads];
      for (int member = 1; member < threads; member++) {
        before[member] = times.getThreadCpuTime(ids.get(member));
      }
      Thread.sleep(300);
      for (int member = 1; member < threads; member++) {
        long spent = times.getThreadCpuTime(ids.get(member)) - before[member];
        assertThat(spent).as("nanoseconds of member %d", member).isBetween(0L, 60_000_000L);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 1025})
  void refusesAbsurdNumbersOfThreads(int threads) {
    assertThatThrownBy(() -> new ThreadTeam(threads))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(threads + " threads: give a number from 1 to 1024");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 7, 100})
  void sharesCoverAllItemsWithoutOverlap(int items) {
    for (int members = 1; members <= 5; members++) {
      assertThat(ThreadTeam.share(items, 0, members)).isZero();
      assertThat(ThreadTeam.share(items, members, members)).isEqualTo(items);
      for (int member = 0; member < members; member++) {
        int size =
            ThreadTeam.share(items, member + 1, members) - ThreadTeam.share(items, member, members);
        assertThat(size).isBetween(items / members, (items + members - 1) / members);
      }
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}

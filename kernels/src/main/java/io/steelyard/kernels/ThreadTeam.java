package io.steelyard.kernels;

import io.steelyard.kernels.machine.Processors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * A fixed team of threads that run one task together, each its own part. The caller is member 0;
 * the others live until {@link #close}. Between tasks they spin for a short while, since the next
 * operator usually follows within microseconds, then sleep. Where the team takes the whole machine
 * they are pinned, each to a processor of its own.
 *
 * <p>One task at a time: a call from a second thread, or from inside a task, is refused.
 */
public final class ThreadTeam implements AutoCloseable {
  /** More threads than any machine here has processors: a mistake. */
  public static final int MAX_THREADS = 1024;

  /** How long a member spins before it sleeps, in nanoseconds. */
  private static final long SPIN_NANOS = 100_000;

  /** Work that every member does a part of. */
  @FunctionalInterface
  public interface Task {
    /**
     * Does one member's part.
     *
     * @param member from 0 to {@code members - 1}
     */
    void run(int member, int members);
  }

  private final Worker[] workers;
  private final boolean spin;
  private final boolean pin;
  private final AtomicBoolean busy = new AtomicBoolean();
  private final AtomicInteger unfinished = new AtomicInteger();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private Task task = (member, members) -> {};
  private volatile Thread sleepingCaller;
  private volatile boolean closed;

  /** Counts tasks; a change tells the members to begin, and publishes {@link #task}. */
  private final AtomicInteger round = new AtomicInteger();

  /**
   * Starts a team.
   *
   * @param threads members, the caller among them
   * @throws IllegalArgumentException unless there are 1 to {@link #MAX_THREADS}
   */
  public ThreadTeam(int threads) {
    if (threads < 1 || threads > MAX_THREADS) {
      throw new IllegalArgumentException(
          threads + " threads: give a number from 1 to " + MAX_THREADS);
    }
    // With more members than processors a spinning member only keeps another from working.
    int processors = Runtime.getRuntime().availableProcessors();
    spin = threads <= processors;
    // Of a smaller team each process would choose the same ones. The caller is not pinned: threads
    // and processes that it starts would be, too.
    pin = threads == processors;
    workers = new Worker[threads - 1];
    for (int i = 0; i < workers.length; i++) {
      workers[i] = new Worker(i + 1);
    }
    for (Worker worker : workers) {
      worker.start();
    }
  }

  /** Members, the caller among them. */
  public int threads() {
    return workers.length + 1;
  }

  /**
   * Runs a task in all members and returns when every one has finished.
   *
   * @throws IllegalStateException if the team is busy or closed
   * @throws RuntimeException or an Error that a member's part threw; further ones are suppressed
   */
  public void run(Task task) {
    if (closed) {
      throw new IllegalStateException("the thread team is closed");
    }
    if (!busy.compareAndSet(false, true)) {
      throw new IllegalStateException("the thread team is busy with another task");
    }
    try {
      if (workers.length == 0) {
        task.run(0, 1);
        return;
      }
      this.task = task;
      unfinished.set(workers.length);
      round.incrementAndGet();
      for (Worker worker : workers) {
        worker.wake();
      }
      attempt(task, 0);
      awaitOthers();
    } finally {
      busy.set(false);
    }
    Throwable thrown = failure.getAndSet(null);
    if (thrown instanceof RuntimeException exception) {
      throw exception;
    } else if (thrown instanceof Error error) {
      throw error;
    }
  }

  /** The first item of a member's part when items are dealt in contiguous runs. */
  public static int share(int items, int member, int members) {
    return (int) ((long) items * member / members);
  }

  private void attempt(Task task, int member) {
    try {
      task.run(member, threads());
    } catch (RuntimeException | Error thrown) {
      if (!failure.compareAndSet(null, thrown)) {
        failure.get().addSuppressed(thrown);
      }
    }
  }

  private void awaitOthers() {
    long deadline = spin ? System.nanoTime() + SPIN_NANOS : 0;
    while (unfinished.get() > 0) {
      if (spin && System.nanoTime() < deadline) {
        Thread.onSpinWait();
        continue;
      }
      sleepingCaller = Thread.currentThread();
      if (unfinished.get() > 0) {
        LockSupport.park(this);
      }
      sleepingCaller = null;
    }
  }

  /**
   * Ends the threads and waits for them.
   *
   * @throws IllegalStateException if a task is running
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    if (!busy.compareAndSet(false, true)) {
      throw new IllegalStateException("the thread team can't be closed while a task is running");
    }
    closed = true;
    round.incrementAndGet();
    boolean interrupted = false;
    for (Worker worker : workers) {
      worker.wake();
      while (worker.isAlive()) {
        try {
          worker.join();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private final class Worker extends Thread {
    private final int member;
    private volatile boolean asleep;

    Worker(int member) {
      super("steelyard-kernel-" + member);
      setDaemon(true);
      this.member = member;
    }

    void wake() {
      if (asleep) {
        LockSupport.unpark(this);
      }
    }

    @Override
    public void run() {
      if (pin) {
        Processors.pinThread(member);
      }
      int seen = 0;
      while (true) {
        awaitRound(seen);
        seen++;
        if (closed) {
          return;
        }
        attempt(task, member);
        if (unfinished.decrementAndGet() == 0) {
          Thread caller = sleepingCaller;
          if (caller != null) {
            LockSupport.unpark(caller);
          }
        }
      }
    }

    private void awaitRound(int seen) {
      long deadline = spin ? System.nanoTime() + SPIN_NANOS : 0;
      while (round.get() == seen) {
        if (spin && System.nanoTime() < deadline) {
          Thread.onSpinWait();
          continue;
        }
        asleep = true;
        if (round.get() == seen) {
          LockSupport.park(this);
        }
        asleep = false;
      }
    }
  }
}

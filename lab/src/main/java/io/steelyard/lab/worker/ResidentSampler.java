package io.steelyard.lab.worker;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Averages a process's resident set over time, from a thread of the coordinator that looks now and
 * then. It disturbs little but not nothing, so it is only started where the average is asked for.
 */
public final class ResidentSampler implements AutoCloseable {
  private final long pid;
  private final long intervalMillis;
  private final Thread thread;
  private double sum;
  private long count;

  private ResidentSampler(long pid, Duration interval) {
    this.pid = pid;
    this.intervalMillis = Math.max(1, interval.toMillis());
    this.thread =
        Thread.ofPlatform().daemon().name("steelyard-resident-" + pid).unstarted(this::run);
  }

  /** Starts to look at a process every so often. */
  public static ResidentSampler start(long pid, Duration interval) {
    ResidentSampler sampler = new ResidentSampler(pid, interval);
    sampler.thread.start();
    return sampler;
  }

  /** Mean of what was seen, in bytes; 0 if nothing was. */
  public synchronized long average() {
    return count == 0 ? 0 : Math.round(sum / count);
  }

  /** How often it has looked. */
  public synchronized long count() {
    return count;
  }

  private void run() {
    try {
      while (true) {
        add(ProcessMemory.resident(pid));
        TimeUnit.MILLISECONDS.sleep(intervalMillis);
      }
    } catch (IOException e) {
      // The process has ended, and with it what there was to see.
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void add(long bytes) {
    sum += bytes;
    count++;
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}

package io.steelyard.models.catalogue;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;

/**
 * A stream that fails when nothing comes for a while. The JDK's HTTP client has time limits for
 * connecting and for headers, none for a body that stops.
 */
final class StallGuard extends FilterInputStream {
  private final Duration limit;
  private final Thread watcher;
  private volatile long lastProgress = System.nanoTime();
  private volatile boolean stalled;

  StallGuard(InputStream in, Duration limit) {
    super(in);
    this.limit = limit;
    this.watcher = Thread.ofVirtual().start(this::watch);
  }

  private void watch() {
    try {
      while (true) {
        long left = limit.toNanos() - (System.nanoTime() - lastProgress);
        if (left <= 0) {
          stalled = true;
          in.close(); // wakes the reader
          return;
        }
        Thread.sleep(Duration.ofNanos(left));
      }
    } catch (InterruptedException e) {
      // The body has been read.
    } catch (IOException e) {
      // The reader meets the same failure.
    }
  }

  @Override
  public int read(byte[] buffer, int from, int length) throws IOException {
    try {
      int n = super.read(buffer, from, length);
      if (stalled) {
        throw stall(null);
      }
      lastProgress = System.nanoTime();
      return n;
    } catch (IOException e) {
      throw stalled ? stall(e) : e;
    }
  }

  private IOException stall(IOException cause) {
    return new IOException("nothing came for " + limit.toMillis() / 1000.0 + " s", cause);
  }

  @Override
  public void close() throws IOException {
    watcher.interrupt();
    super.close();
  }
}

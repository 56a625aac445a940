package io.steelyard.lab.worker;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What a worker writes to standard error: its first megabyte is appended to a file, and its last
 * lines are kept for messages. What lies between is dropped, so that an engine that prints without
 * end can't fill the disk.
 */
final class ErrorLog {
  private static final int KEPT = 1 << 20;

  /** The most of standard error that a message quotes. */
  private static final int TAIL = 2_048;

  private final Path file;
  private final byte[] tail = new byte[TAIL];
  private long written;
  private String trouble = "";
  private Thread reader;

  private ErrorLog(Path file) {
    this.file = file;
  }

  /** Reads a stream to its end, in a thread of its own. */
  static ErrorLog start(InputStream stream, Path file, long pid) {
    ErrorLog log = new ErrorLog(file);
    log.reader =
        Thread.ofPlatform()
            .daemon()
            .name("steelyard-stderr-" + pid)
            .unstarted(() -> log.read(stream));
    log.reader.start();
    return log;
  }

  private void read(InputStream stream) {
    byte[] bytes = new byte[8_192];
    try (stream;
        OutputStream out = new FileOutputStream(file.toFile(), true)) {
      long kept = 0;
      for (int count = stream.read(bytes); count >= 0; count = stream.read(bytes)) {
        remember(bytes, count);
        int keep = (int) Math.min(count, KEPT - kept);
        out.write(bytes, 0, keep);
        kept += keep;
      }
    } catch (IOException e) {
      // Without a reader the worker would stall, or die of a broken pipe, for a log's sake.
      drain(stream, bytes, e);
    }
  }

  private void drain(InputStream stream, byte[] bytes, IOException reason) {
    synchronized (this) {
      trouble = "\n(" + file + " can't be written: " + reason.getMessage() + ")";
    }
    try (stream) {
      for (int count = stream.read(bytes); count >= 0; count = stream.read(bytes)) {
        remember(bytes, count);
      }
    } catch (IOException _) {
      // The process has gone, and its pipe with it.
    }
  }

  private synchronized void remember(byte[] bytes, int count) {
    for (int i = Math.max(0, count - TAIL); i < count; i++) {
      tail[(int) ((written + i) % TAIL)] = bytes[i];
    }
    written += count;
  }

  /** Waits until all that a process wrote before it ended has been read. */
  void finish(Duration most) {
    try {
      var _ = reader.join(most);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** The last lines, quoted for a message; empty if there are none. */
  synchronized String quoted() {
    int count = (int) Math.min(written, TAIL);
    byte[] last = new byte[count];
    for (int i = 0; i < count; i++) {
      last[i] = tail[(int) ((written - count + i) % TAIL)];
    }
    String text = Printable.lines(new String(last, StandardCharsets.UTF_8)).strip();
    return text.isEmpty()
        ? trouble
        : "\nThe end of its standard error:\n" + text.indent(2).stripTrailing() + trouble;
  }
}

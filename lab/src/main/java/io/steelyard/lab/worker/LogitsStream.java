package io.steelyard.lab.worker;

import io.steelyard.lab.worker.Wire.LogitsReport;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The logits of a sequence, position by position, while a worker computes them: the file that it
 * writes is a pipe, so however long the sequence is, one row is in memory. For one thread; the
 * worker is busy until all rows are read or this is closed.
 */
public final class LogitsStream implements AutoCloseable {
  private final WorkerProcess worker;
  private final int[] ids;
  private final Path pipe;
  private final Thread call;
  private final InputStream in;

  /** Held while the call lasts, so that the pipe doesn't end before the worker has opened it. */
  private final OutputStream writer;

  private final byte[] row;
  private int read;

  // Written by the thread of the call before it ends.
  private LogitsReport report;
  private WorkerException failure;

  private LogitsStream(WorkerProcess worker, int[] ids, int width, Path pipe) throws IOException {
    this.worker = worker;
    this.ids = ids;
    this.pipe = pipe;
    row = new byte[Math.multiplyExact(width, Float.BYTES)];
    // An end for both waits for nobody, and keeps either of the others from waiting.
    try (RandomAccessFile _ = new RandomAccessFile(pipe.toFile(), "rw")) {
      in = new FileInputStream(pipe.toFile());
      writer = new FileOutputStream(pipe.toFile());
    }
    call = Thread.ofPlatform().daemon().name("steelyard-logits").start(this::call);
  }

  /**
   * Asks for logits.
   *
   * @param width values of a row, the model's vocabulary
   * @param pipe where no file is yet
   */
  static LogitsStream open(WorkerProcess worker, int[] ids, int width, Path pipe)
      throws IOException {
    Process made = new ProcessBuilder("mkfifo", pipe.toString()).inheritIO().start();
    try {
      if (made.waitFor() != 0) {
        throw new IOException("mkfifo can't make a pipe in " + pipe.getParent());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while a pipe was made", e);
    }
    return new LogitsStream(worker, ids, width, pipe);
  }

  private void call() {
    try {
      report = worker.logits(ids, pipe);
    } catch (WorkerException e) {
      failure = e;
    } finally {
      end();
    }
  }

  /** Nothing more is written: the pipe ends behind what is in it. */
  private void end() {
    try {
      writer.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The next position's logits.
   *
   * @return float32, little-endian; valid until the next call
   * @throws WorkerException if the worker failed, or gave other rows than it must
   */
  public MemorySegment next() throws WorkerException, IOException {
    int bytes = in.readNBytes(row, 0, row.length);
    read++;
    if (bytes < row.length || read == ids.length) {
      join();
      if (failure != null) {
        throw failure;
      }
      if (bytes < row.length
          || in.read() >= 0
          || report.rows() != ids.length
          || report.width() != row.length / Float.BYTES) {
        throw worker.garbage(
            "logits",
            "%d rows of %d for %d ids, and not all of them in its file, or more"
                .formatted(report.rows(), report.width(), ids.length));
      }
    }
    return MemorySegment.ofArray(row);
  }

  private void join() {
    boolean interrupted = false;
    while (call.isAlive()) {
      try {
        call.join();
      } catch (InterruptedException _) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() throws IOException {
    // A worker that still writes is told that nobody reads.
    in.close();
    join();
    Files.deleteIfExists(pipe);
  }
}

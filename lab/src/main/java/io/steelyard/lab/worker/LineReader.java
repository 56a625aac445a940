package io.steelyard.lab.worker;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Optional;

/** Reads lines of bytes of a bounded length, and notes when each one arrived. */
final class LineReader {
  /** A line without its end. */
  record Line(byte[] bytes, long arrivedNanos) {}

  /** A line that grew beyond the limit; the rest of it is skipped by the next read. */
  static final class TooLongException extends IOException {
    private static final long serialVersionUID = 1L;

    TooLongException(int limit) {
      super("a line is longer than " + limit + " bytes");
    }
  }

  private final InputStream in;
  private final int limit;
  private final byte[] buffer = new byte[1 << 16];
  private int position;
  private int end;
  private long arrivedNanos;
  private boolean skipping;

  /** The part of a line that earlier buffers held. */
  private byte[] head = new byte[0];

  private int headLength;

  LineReader(InputStream in, int limit) {
    this.in = in;
    this.limit = limit;
  }

  /**
   * The next line; empty at the end of the stream, where a last line without an end is dropped.
   *
   * @throws TooLongException if the line is longer than the limit; reading may go on
   */
  Optional<Line> next() throws IOException {
    while (true) {
      if (position == end && !fill()) {
        return Optional.empty();
      }
      int start = position;
      int stop = start;
      while (stop < end && buffer[stop] != '\n') {
        stop++;
      }
      boolean complete = stop < end;
      position = complete ? stop + 1 : stop;
      if (skipping) {
        skipping = !complete;
      } else if (stop - start > limit - headLength) {
        skipping = !complete;
        dropHead();
        throw new TooLongException(limit);
      } else if (complete) {
        byte[] line = Arrays.copyOf(head, headLength + stop - start);
        System.arraycopy(buffer, start, line, headLength, stop - start);
        dropHead();
        return Optional.of(new Line(line, arrivedNanos));
      } else {
        keep(start, stop);
      }
    }
  }

  private boolean fill() throws IOException {
    position = 0;
    end = Math.max(0, in.read(buffer));
    arrivedNanos = System.nanoTime();
    return end > 0;
  }

  private void keep(int start, int stop) {
    int length = headLength + stop - start;
    if (length > head.length) {
      head = Arrays.copyOf(head, Math.max(length, 2 * head.length));
    }
    System.arraycopy(buffer, start, head, headLength, stop - start);
    headLength = length;
  }

  private void dropHead() {
    head = new byte[0];
    headLength = 0;
  }
}

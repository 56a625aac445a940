package io.steelyard.engines.llamacpp;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What llama.cpp says. Its lines are kept, since some facts stand nowhere else (buffer sizes,
 * whether automatic flash attention came out on); warnings and errors go to standard error, and
 * nothing ever to standard output, which belongs to the worker protocol.
 *
 * <p>llama.cpp calls {@link #accept} from whichever of its threads has something to say.
 */
final class LlamaCppLog {
  private static final int WARN = 3;
  private static final int ERROR = 4;

  /** A level that means: more of the line before. */
  private static final int CONTINUED = 5;

  /** A load writes a few hundred lines; a broken one must not fill the heap. */
  private static final int MOST_LINES = 4000;

  private static final int LONGEST_LINE = 4000;

  private static final String BUFFER = " buffer size =";

  private final List<String> lines = new ArrayList<>();
  private final StringBuilder partial = new StringBuilder();
  private int partialLevel;
  private Optional<String> firstError = Optional.empty();

  /** The callback of {@code llama_log_set}; must not throw into native code. */
  void accept(int level, MemorySegment text, MemorySegment ignoredUserData) {
    try {
      append(level, text.reinterpret(Integer.MAX_VALUE).getString(0));
    } catch (RuntimeException e) {
      System.err.println("llama.cpp: a log line could not be read: " + e);
    }
  }

  synchronized void append(int level, String text) {
    if (level != CONTINUED) {
      flush();
      partialLevel = level;
    }
    int from = 0;
    for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      partial.append(text, from, end);
      flush();
      from = end + 1;
    }
    if (partial.length() < LONGEST_LINE) {
      partial.append(text, from, text.length());
    }
  }

  private void flush() {
    if (partial.isEmpty()) {
      return;
    }
    String line = partial.toString().strip();
    partial.setLength(0);
    if (lines.size() < MOST_LINES) {
      lines.add(line);
    }
    if (partialLevel == WARN || partialLevel == ERROR) {
      System.err.println("llama.cpp: " + line);
    }
    if (partialLevel == ERROR) {
      firstError = firstError.or(() -> Optional.of(line));
    }
  }

  /** Forgets everything, before something new is loaded. */
  synchronized void clear() {
    partial.setLength(0);
    lines.clear();
    firstError = Optional.empty();
  }

  /** The first error since {@link #clear}: it is the cause, later ones its consequences. */
  synchronized Optional<String> cause() {
    flush();
    return firstError;
  }

  /** Whether any line holds this text. */
  synchronized boolean mentions(String text) {
    flush();
    return lines.stream().anyMatch(line -> line.contains(text));
  }

  /**
   * Bytes of the buffers of one kind, by llama.cpp's own account, to a hundredth of a mebibyte.
   *
   * @param kind {@code model}, {@code KV}, {@code RS}, {@code compute} or {@code output}
   */
  synchronized long bufferBytes(String kind) {
    flush();
    String label = " " + kind + BUFFER;
    double mebibytes = 0;
    for (String line : lines) {
      int at = line.indexOf(label);
      if (at >= 0 && line.endsWith(" MiB")) {
        String size = line.substring(at + label.length(), line.length() - " MiB".length());
        mebibytes += Double.parseDouble(size.strip());
      }
    }
    return Math.round(mebibytes * (1 << 20));
  }
}

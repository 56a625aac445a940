package io.steelyard.lab.parity;

import io.steelyard.lab.RunException;
import io.steelyard.lab.RunListener;
import io.steelyard.lab.worker.LogitsStream;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;

/**
 * A text in windows, whose tokens models are scored by just as by llama.cpp's llama-perplexity, so
 * that the numbers compare. The text's tokens are cut into windows of N; what is left over at the
 * end is not used. Each window is a forward pass from an empty cache. A token is scored if at least
 * N/2 + 1 tokens of its window come before it (halves rounded down), so that every score has some
 * context: those at places N/2 + 1 to N − 1, counted from 0, which are N − N/2 − 1 of each window.
 *
 * @param windows token ids, all of the same length
 */
public record TextWindows(List<int[]> windows) {
  /** The shortest window of which two tokens are scored. */
  public static final int SHORTEST = 5;

  public TextWindows {
    windows = List.copyOf(windows);
  }

  /**
   * Cuts a text.
   *
   * @param ids of the whole text
   * @param length of a window, at least {@value #SHORTEST}
   * @param begin the token that the model expects before a text; it stands before the text, and in
   *     the place of each window's first token
   * @throws IllegalArgumentException if there is no window in it
   */
  public static TextWindows cut(int[] ids, int length, OptionalInt begin) {
    int[] text = ids;
    if (begin.isPresent()) {
      text = new int[ids.length + 1];
      System.arraycopy(ids, 0, text, 1, ids.length);
    }
    if (length < SHORTEST || text.length < length) {
      throw new IllegalArgumentException(
          "%d tokens hold no window of %d".formatted(text.length, length));
    }
    List<int[]> windows = new ArrayList<>();
    for (int at = 0; at <= text.length - length; at += length) {
      int[] window = Arrays.copyOfRange(text, at, at + length);
      begin.ifPresent(id -> window[0] = id);
      windows.add(window);
    }
    return new TextWindows(windows);
  }

  /** Tokens of a window. */
  public int length() {
    return windows.getFirst().length;
  }

  /** The first position whose logits are used, those of the token after it. */
  private int first() {
    return length() / 2;
  }

  /**
   * Scores a model.
   *
   * @param worker with the model loaded and a context of a window's length at least
   * @param vocabulary logits a position
   * @throws RunException if its logits are no numbers
   */
  public TextScore score(WorkerProcess worker, int vocabulary, RunListener listener)
      throws WorkerException, IOException {
    TextScore.Tally tally = TextScore.over(vocabulary);
    for (int i = 0; i < windows.size(); i++) {
      try (LogitsStream rows = worker.logits(windows.get(i), vocabulary)) {
        for (int place = 0; place < length(); place++) {
          MemorySegment row = rows.next();
          if (scored(place)) {
            tally.add(row, following(i, place));
          }
        }
      }
      progress(i, tally.score(), listener);
    }
    return tally.score();
  }

  /**
   * How a model foresees a text against how another one does.
   *
   * @param own its score
   * @param other the other one's
   * @param comparison of its logits with the other one's, which take the oracle's place
   */
  public record Against(TextScore own, TextScore other, LogitsComparison comparison) {}

  /**
   * Scores a model against another one, window by window.
   *
   * @param worker as for {@link #score}
   * @param other likewise
   * @param vocabulary logits a position of both
   * @throws RunException if their logits are no numbers
   */
  public Against compare(
      WorkerProcess worker, WorkerProcess other, int vocabulary, RunListener listener)
      throws WorkerException, IOException {
    LogitsComparison.Tally tally = LogitsComparison.over(vocabulary);
    for (int i = 0; i < windows.size(); i++) {
      try (LogitsStream own = worker.logits(windows.get(i), vocabulary);
          LogitsStream base = other.logits(windows.get(i), vocabulary)) {
        for (int place = 0; place < length(); place++) {
          MemorySegment ownRow = own.next();
          MemorySegment baseRow = base.next();
          if (scored(place)) {
            tally.add(baseRow, ownRow, following(i, place));
          }
        }
      }
      progress(i, tally.score(), listener);
      requireFinite("the other model's", i, tally.oracleScore());
    }
    return new Against(tally.score(), tally.oracleScore(), tally.comparison());
  }

  /** Whether the logits of a place are used: all but the last from {@link #first} on. */
  private boolean scored(int place) {
    return place >= first() && place < length() - 1;
  }

  /** A place's id and the one that follows. */
  private int[] following(int window, int place) {
    return Arrays.copyOfRange(windows.get(window), place, place + 2);
  }

  private void progress(int window, TextScore score, RunListener listener) {
    requireFinite("the model's", window, score);
    listener.progress(
        "perplexity",
        (window + 1.0) / windows.size(),
        String.format(
            Locale.ROOT,
            "%.4f ± %.4f after %d of %d windows",
            score.perplexity(),
            score.error(),
            window + 1,
            windows.size()));
  }

  private static void requireFinite(String whose, int window, TextScore score) {
    if (!Double.isFinite(score.perplexity())) {
      throw new RunException(
          "%s logits are not all finite in window %d, so there is no perplexity; its file may be damaged"
              .formatted(whose, window + 1));
    }
  }
}

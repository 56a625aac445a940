package io.steelyard.app;

import io.steelyard.lab.worker.TokenListener;
import io.steelyard.models.TextOutput;
import io.steelyard.models.tokenizer.Tokenizer;
import java.io.PrintStream;
import java.util.List;
import java.util.Set;

/** The answer of {@code generate}, printed as its tokens come. */
final class StreamedAnswer implements TokenListener {
  private final TextOutput text;
  private int tokens;
  private long firstNanos;

  StreamedAnswer(Tokenizer tokenizer, List<String> stops, Set<Integer> ends) {
    text = new TextOutput(tokenizer, ends, stops, StreamedAnswer::print);
  }

  /** Prints a piece of an answer. */
  static void print(String piece) {
    PrintStream out = System.out;
    out.print(piece);
    out.flush();
  }

  @Override
  public void token(int id) {
    if (tokens++ == 0) {
      firstNanos = System.nanoTime();
    }
    text.test(id);
    if (text.stopped()) {
      throw new StopStringFoundException();
    }
  }

  /** Tokens so far, those included that are not shown. */
  int tokens() {
    return tokens;
  }

  /** Prints what was held back, and ends the line. */
  void end() {
    text.finish();
    System.out.println();
  }

  /** How the tokens came so far, without the first, which had to wait for the prompt. */
  String rate() {
    return tokens > 1
        ? ", %.1f tok/s".formatted((tokens - 1) * 1e9 / (System.nanoTime() - firstNanos))
        : "";
  }

  /** Leaves a generation that its engine would go on with: it knows tokens, and no text. */
  static final class StopStringFoundException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }
}

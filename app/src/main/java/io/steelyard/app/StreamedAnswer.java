package io.steelyard.app;

import io.steelyard.lab.worker.TokenListener;
import io.steelyard.models.tokenizer.StopStrings;
import io.steelyard.models.tokenizer.StreamDecoder;
import java.io.PrintStream;
import java.util.Set;

/** The answer of {@code generate}, printed as its tokens come. */
final class StreamedAnswer implements TokenListener {
  private final PrintStream out = System.out;
  private final StreamDecoder decoder;
  private final StopStrings stops;
  private final Set<Integer> ends;
  private int tokens;
  private long firstNanos;

  StreamedAnswer(StreamDecoder decoder, StopStrings stops, Set<Integer> ends) {
    this.decoder = decoder;
    this.stops = stops;
    this.ends = ends;
  }

  @Override
  public void token(int id) {
    if (tokens++ == 0) {
      firstNanos = System.nanoTime();
    }
    if (!ends.contains(id)) {
      out.print(stops.push(decoder.push(id)));
      out.flush();
      if (stops.found()) {
        throw new StopStringFoundException();
      }
    }
  }

  /** Tokens so far, those included that are not shown. */
  int tokens() {
    return tokens;
  }

  /** Prints what was held back, and ends the line. */
  void end() {
    out.println(stops.push(decoder.flush()) + stops.flush());
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

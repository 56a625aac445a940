package io.steelyard.models;

import io.steelyard.models.tokenizer.StopStrings;
import io.steelyard.models.tokenizer.StreamDecoder;
import io.steelyard.models.tokenizer.Tokenizer;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntPredicate;

/** Text put together from tokens as they come, until one ends it or a stop string does. */
public final class TextOutput implements IntPredicate {
  private final Set<Integer> ends;
  private final StreamDecoder decoder;
  private final StopStrings stops;
  private final Consumer<String> listener;
  private final StringBuilder text = new StringBuilder();
  private boolean ended;

  /**
   * Begins with no text.
   *
   * @param ends tokens that end the text and are no part of it
   * @param stops strings that end the text before them
   * @param listener told of each piece of text as it comes
   * @throws IllegalArgumentException if a stop string is empty
   */
  public TextOutput(
      Tokenizer tokenizer, Set<Integer> ends, List<String> stops, Consumer<String> listener) {
    this.ends = Set.copyOf(ends);
    decoder = tokenizer.stream(false);
    this.stops = new StopStrings(stops);
    this.listener = listener;
  }

  /** Takes the next token; the answer is whether another one is wanted. */
  @Override
  public boolean test(int id) {
    ended |= ends.contains(id);
    if (ended) {
      return false;
    }
    tell(stops.push(decoder.push(id)));
    return !stops.found();
  }

  /** Whether a stop string was found. */
  public boolean stopped() {
    return stops.found();
  }

  /** Whether a token ended it. */
  public boolean ended() {
    return ended;
  }

  /** Tells what was held back, as no more tokens come; returns the whole text. */
  public String finish() {
    if (!stopped()) {
      tell(stops.push(decoder.flush()) + stops.flush());
    }
    return text.toString();
  }

  private void tell(String piece) {
    if (!piece.isEmpty()) {
      text.append(piece);
      listener.accept(piece);
    }
  }
}

package io.steelyard.models.tokenizer;

import java.util.List;

/**
 * Ends a stream of text before the first stop string in it. A stop string may come in any number of
 * pieces: text that may yet turn out to be the beginning of one is held back until it can't. How
 * the text is cut into pieces makes no difference. The first stop string to be complete ends the
 * stream; of several that end at the same character, the longest.
 *
 * <p>For one thread.
 */
public final class StopStrings {
  private final List<String> stops;

  /** What may be the beginning of a stop string. */
  private final StringBuilder held = new StringBuilder();

  private boolean found;

  /**
   * Looks for any of these.
   *
   * @throws IllegalArgumentException if one is empty
   */
  public StopStrings(List<String> stops) {
    if (stops.contains("")) {
      throw new IllegalArgumentException(
          "a stop string is empty, which every text begins with; give at least one character");
    }
    this.stops = List.copyOf(stops);
  }

  /**
   * Takes the next piece of text and returns what can be shown by now. After a stop string nothing
   * can.
   */
  public String push(String text) {
    if (found) {
      return "";
    }
    if (stops.isEmpty()) {
      return text;
    }
    for (int i = 0; i < text.length() && !found; i++) {
      held.append(text.charAt(i));
      int length = 0;
      for (String stop : stops) {
        if (stop.length() > length && endsWith(stop, stop.length())) {
          length = stop.length();
        }
      }
      if (length > 0) {
        found = true;
        held.setLength(held.length() - length);
      }
    }
    return take(held.length() - (found ? 0 : possibleBeginning()));
  }

  /** Whether a stop string has come. */
  public boolean found() {
    return found;
  }

  /** Ends the stream: what is still held back, since nothing follows that would make it a stop. */
  public String flush() {
    return take(held.length());
  }

  private String take(int length) {
    String shown = held.substring(0, length);
    held.delete(0, length);
    return shown;
  }

  /** The length of the longest end of what is held that a stop string begins with. */
  private int possibleBeginning() {
    int longest = 0;
    for (String stop : stops) {
      int length = Math.min(stop.length() - 1, held.length());
      while (length > longest && !endsWith(stop, length)) {
        length--;
      }
      longest = Math.max(longest, length);
    }
    return longest;
  }

  /** Whether what is held ends with the first characters of a stop string. */
  private boolean endsWith(String stop, int length) {
    int start = held.length() - length;
    if (start < 0) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (held.charAt(start + i) != stop.charAt(i)) {
        return false;
      }
    }
    return true;
  }
}

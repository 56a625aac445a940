package io.steelyard.models.speculation;

import java.util.Arrays;
import java.util.Objects;

/**
 * Drafts what may come next from what came before: where the last tokens have occurred already, the
 * tokens that followed them then. Answers that quote their prompt, such as edited code, and text
 * that runs in circles are full of such places.
 *
 * <p>Occurrences are found as deflate finds them: a hash of {@value #SHORTEST} tokens leads to the
 * last place where they stood, from there a chain to the places before it, and the longest match
 * among the nearest places wins. So a token costs the same however long the text is.
 *
 * <p>A wrong draft costs time, so how much is drafted follows from how the last drafts did. Right
 * ones double the length of the next; one that goes wrong cuts it to what was right. After one that
 * was wrong from its first token, twice as long a match is asked for, up to {@value #LONGEST}: in
 * text that does not repeat itself drafting ends after two or three wrong tokens.
 *
 * <p>Source: Saxena, "Prompt Lookup Decoding" (2023); the matcher is that of RFC 1951, section 4.
 */
public final class PromptLookup {
  /** The fewest tokens that must match. Two match by chance all the time. */
  static final int SHORTEST = 3;

  /** The most tokens that are asked to match, and that matches are told apart by. */
  static final int LONGEST = 16;

  /** Places looked at for the longest match. */
  static final int PLACES = 32;

  /** Tokens that must match at first, as long as nothing is known about the text. */
  static final int FIRST_MATCH = 4;

  /** The length of the first draft. */
  static final int FIRST_DRAFT = 1;

  /** The longest draft; what a pass takes at no loss ends far below it. */
  private static final int LONGEST_DRAFT = 64;

  private static final int MOST_HASH_BITS = 20;

  private static final int NOWHERE = -1;

  /** 2³² divided by the golden ratio: spreads sums over all bits (Knuth, volume 3, 6.4). */
  private static final int GOLDEN = 0x9E3779B9;

  private final int[] tokens;

  /** By position, the place before it where the same hash ended. */
  private final int[] previous;

  /** By hash, the last place where it ended. */
  private final int[] last;

  private final int shift;
  private int length;
  private int needed;
  private int reach;

  /**
   * An empty text.
   *
   * @param capacity the most tokens, of prompt and answer together
   */
  public PromptLookup(int capacity) {
    if (capacity < 1) {
      throw new IllegalArgumentException("a text of at most " + capacity + " tokens has none");
    }
    int bits = Math.min(MOST_HASH_BITS, Integer.SIZE - Integer.numberOfLeadingZeros(capacity));
    tokens = new int[capacity];
    previous = new int[capacity];
    last = new int[1 << bits];
    shift = Integer.SIZE - bits;
    begin();
  }

  /** Forgets everything: a new text begins. */
  public void begin() {
    Arrays.fill(last, NOWHERE);
    length = 0;
    needed = FIRST_MATCH;
    reach = FIRST_DRAFT;
  }

  /** Tokens so far. */
  public int length() {
    return length;
  }

  /**
   * Appends a token.
   *
   * @throws IndexOutOfBoundsException if the text is full
   */
  public void add(int id) {
    int at = Objects.checkIndex(length, tokens.length);
    tokens[at] = id;
    length = at + 1;
    if (length < SHORTEST) {
      previous[at] = NOWHERE;
      return;
    }
    int hash = (((tokens[at - 2] * 31 + tokens[at - 1]) * 31 + id) * GOLDEN) >>> shift;
    previous[at] = last[hash];
    last[hash] = at;
  }

  /**
   * Drafts the tokens that may follow the text.
   *
   * @param into receives them from index {@code from} on
   * @param most how many there may be; none or fewer gives none
   * @return how many there are
   */
  public int draft(int[] into, int from, int most) {
    int count = Math.min(most, reach);
    int place = count < 1 ? NOWHERE : place();
    if (place == NOWHERE) {
      return 0;
    }
    for (int i = 0; i < count; i++) {
      int at = place + 1 + i;
      // What followed may reach the text's end; then it goes on with the draft itself, in circles.
      into[from + i] = at < length ? tokens[at] : into[from + at - length];
    }
    return count;
  }

  /** The earlier place whose end matches the text's in the most tokens; of equals the nearest. */
  private int place() {
    int best = NOWHERE;
    int longest = needed - 1;
    int place = length == 0 ? NOWHERE : previous[length - 1];
    for (int i = 0; i < PLACES && place != NOWHERE && longest < LONGEST; i++) {
      int match = match(place);
      if (match > longest) {
        longest = match;
        best = place;
      }
      place = previous[place];
    }
    return best;
  }

  private int match(int place) {
    int most = Math.min(LONGEST, place + 1);
    int match = 0;
    while (match < most && tokens[place - match] == tokens[length - 1 - match]) {
      match++;
    }
    return match;
  }

  /**
   * Learns how a draft did.
   *
   * @param drafted its length, at least 1
   * @param right how many of its tokens, from the first one on, came true
   */
  public void learn(int drafted, int right) {
    if (right == drafted) {
      needed = Math.max(SHORTEST, needed / 2);
      reach = Math.min(LONGEST_DRAFT, 2 * reach);
    } else {
      reach = Math.max(1, right);
      if (right == 0) {
        needed = Math.min(LONGEST, 2 * needed);
      }
    }
  }
}

package io.steelyard.models.speculation;

import io.steelyard.models.Session;
import java.lang.foreign.MemorySegment;

/**
 * Several tokens a pass: a draft is processed together with the token before it, and as much of it
 * is kept as turns out to be what would have been chosen. Passes stay so small that each position's
 * logits are, bit for bit, those of one token at a time, so what is generated is the same, too.
 *
 * <p>Source: Leviathan et al., "Fast Inference from Transformers via Speculative Decoding" (2023),
 * with {@link PromptLookup} in place of a smaller model.
 */
public final class Speculation {
  /** Stands for the draft of a position that has none; no token's id. */
  public static final int NONE = -1;

  /** Chooses tokens. */
  @FunctionalInterface
  public interface Verifier<E extends Exception> {
    /**
     * Chooses the token that follows a position.
     *
     * @param logits of the position, float32; only valid during the call
     * @param draft the token drafted for what follows, or {@link #NONE}
     * @return whether the token chosen is the draft and another one is wanted
     */
    boolean accepts(MemorySegment logits, int draft) throws E;
  }

  private final Session session;
  private final PromptLookup lookup;

  /** The token to process, then its draft. */
  private final int[] ids;

  private int seen;
  private int right;
  private long drafted;
  private long accepted;

  /** Speculation over what a session generates. */
  public Speculation(Session session) {
    this.session = session;
    // One more than the cache holds, so that it is the session that says when it is full.
    lookup = new PromptLookup(session.capacity() + 1);
    ids = new int[session.fewTokens()];
  }

  /**
   * Begins a generation.
   *
   * @param prompt its first {@code length} tokens are what the session's cache holds
   */
  public void begin(int[] prompt, int length) {
    lookup.begin();
    for (int i = 0; i < length; i++) {
      lookup.add(prompt[i]);
    }
    drafted = 0;
    accepted = 0;
  }

  /** Tokens drafted since the generation began. */
  public long drafted() {
    return drafted;
  }

  /** Tokens of them that came true. */
  public long accepted() {
    return accepted;
  }

  /**
   * Appends a token to the session's cache, and with it the drafted ones that come true.
   *
   * @param id the token
   * @param most how many tokens may be chosen, at least 1
   * @param verifier asked once for each token that follows, in order, until it says no
   * @throws io.steelyard.models.ModelException as {@link Session#step}
   */
  public <E extends Exception> void pass(int id, int most, Verifier<E> verifier) throws E {
    lookup.add(id);
    int start = session.length();
    int room = Math.min(session.room(), ids.length);
    int count = lookup.draft(ids, 1, Math.min(room, most) - 1);
    if (count == 0) {
      verifier.accepts(session.step(id), NONE);
      return;
    }
    ids[0] = id;
    seen = 0;
    right = 0;
    session.<E>forward(
        ids,
        0,
        1 + count,
        logits -> {
          // A position counts only while all the tokens before it are right.
          if (right == seen) {
            seen++;
            right += verifier.accepts(logits, seen <= count ? ids[seen] : NONE) ? 1 : 0;
          }
        });
    session.truncate(start + 1 + right);
    for (int i = 1; i <= right; i++) {
      lookup.add(ids[i]);
    }
    lookup.learn(count, right);
    drafted += count;
    accepted += right;
  }
}

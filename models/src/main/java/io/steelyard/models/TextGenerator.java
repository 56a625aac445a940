package io.steelyard.models;

import io.steelyard.models.sampling.Sampler;
import io.steelyard.models.sampling.Sampling;
import io.steelyard.models.speculation.Speculation;
import io.steelyard.models.tokenizer.StopStrings;
import io.steelyard.models.tokenizer.Tokenizer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Goes on with a text: tokens are chosen from a session's logits until the model ends it, a stop
 * string comes, or there are enough.
 *
 * <p>For one thread, as its session is.
 */
public final class TextGenerator {
  private final Tokenizer tokenizer;
  private final Session session;
  private final Sampling sampling;
  private final Set<Integer> ends;
  private List<String> stops = List.of();
  private Optional<Speculation> speculation = Optional.empty();

  /**
   * A text that was generated.
   *
   * @param text without what ended it
   * @param tokens chosen, the one that ended it included
   * @param passes over the model after the prompt, but for its last token, was processed
   * @param nanos that they took, and the choices
   * @param stopped whether a stop string ended it
   */
  public record Generation(String text, int tokens, int passes, long nanos, boolean stopped) {}

  /**
   * A generator of a session's model.
   *
   * @throws ModelException if the model has no tokenizer, or doesn't generate token by token
   */
  public TextGenerator(Model model, Session session, Sampling sampling) {
    if (!session.causal()) {
      throw new ModelException(
          "the model fills in masks and can't go on with a text token by token; use DiffusionDecoder");
    }
    tokenizer = model.tokenizer();
    ends = new HashSet<>(tokenizer.endOfGeneration());
    this.session = session;
    this.sampling = sampling;
  }

  /**
   * Ends a text before any of these.
   *
   * @throws IllegalArgumentException if one is empty
   */
  public void stopAt(List<String> strings) {
    new StopStrings(strings);
    stops = List.copyOf(strings);
  }

  /** Ends a text before these tokens too, beside those that end the model's answers. */
  public void endAt(Set<Integer> ids) {
    ends.addAll(ids);
  }

  /**
   * Drafts what followed the same tokens before and checks the draft in one pass: the same output,
   * sooner where text repeats.
   *
   * @throws IllegalStateException unless the likeliest token is chosen
   */
  public void speculate() {
    if (sampling.temperature() > 0) {
      throw new IllegalStateException("speculation is for greedy decoding");
    }
    speculation = Optional.of(new Speculation(session));
  }

  /**
   * Goes on with a prompt, whose tokens replace what the session held.
   *
   * @param tokens the most to generate
   * @param listener told of each piece of text as it comes
   * @return what was generated
   * @throws ModelException if prompt and tokens don't fit the session's cache
   */
  public String generate(String prompt, int tokens, Consumer<String> listener) {
    return generate(tokenizer.encode(prompt, true), tokens, listener).text();
  }

  /**
   * Goes on with a prompt's tokens, which replace what the session held.
   *
   * @param prompt at least one token
   * @param tokens the most to generate
   * @param listener told of each piece of text as it comes
   * @throws ModelException if prompt and tokens don't fit the session's cache
   */
  public Generation generate(int[] prompt, int tokens, Consumer<String> listener) {
    if (prompt.length == 0) {
      throw new ModelException("the prompt is empty: give at least one character");
    }
    int cached = prompt.length - 1;
    session.truncate(0);
    session.advance(prompt, 0, cached);
    speculation.ifPresent(drafts -> drafts.begin(prompt, cached));
    Answer answer = new Answer(prompt, tokens, new TextOutput(tokenizer, ends, stops, listener));
    int passes = 0;
    long start = System.nanoTime();
    while (answer.wanted) {
      answer.pass();
      passes++;
    }
    long nanos = System.nanoTime() - start;
    TextOutput text = answer.text;
    return new Generation(text.finish(), answer.tokens, passes, nanos, text.stopped());
  }

  /** A text that is being generated. */
  private final class Answer implements Speculation.Verifier<RuntimeException> {
    final TextOutput text;
    final Sampler sampler = new Sampler(sampling);
    final int most;
    int last;
    int tokens;
    boolean wanted;

    Answer(int[] prompt, int most, TextOutput text) {
      this.most = most;
      this.text = text;
      sampler.begin(prompt);
      last = prompt[prompt.length - 1];
      wanted = most > 0;
    }

    void pass() {
      if (speculation.isPresent()) {
        speculation.get().pass(last, most - tokens, this);
      } else {
        accepts(session.step(last), Speculation.NONE);
      }
    }

    @Override
    public boolean accepts(MemorySegment logits, int draft) {
      last = sampler.next(logits);
      if (!Float.isFinite(logits.getAtIndex(ValueLayout.JAVA_FLOAT, last))) {
        throw new ModelException(
            "the logits computed are no numbers; the model file may be damaged");
      }
      tokens++;
      wanted = text.test(last) && tokens < most;
      return last == draft && wanted;
    }
  }
}

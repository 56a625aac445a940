package io.steelyard.models;

import io.steelyard.models.sampling.Sampler;
import io.steelyard.models.sampling.Sampling;
import io.steelyard.models.tokenizer.StopStrings;
import io.steelyard.models.tokenizer.Tokenizer;
import java.lang.foreign.MemorySegment;
import java.util.List;
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
  private List<String> stops = List.of();

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

  /**
   * Goes on with a prompt, whose tokens replace what the session held.
   *
   * @param tokens the most to generate
   * @param listener told of each piece of text as it comes
   * @return what was generated
   * @throws ModelException if prompt and tokens don't fit the session's cache
   */
  public String generate(String prompt, int tokens, Consumer<String> listener) {
    int[] ids = tokenizer.encode(prompt, true);
    if (ids.length == 0) {
      throw new ModelException("the prompt is empty: give at least one character");
    }
    session.truncate(0);
    Sampler sampler = new Sampler(sampling);
    sampler.begin(ids);
    TextOutput output = new TextOutput(tokenizer, tokenizer.endOfGeneration(), stops, listener);
    MemorySegment logits = session.forward(ids, 0, ids.length);
    for (int i = 1; i <= tokens; i++) {
      int id = sampler.next(logits);
      if (!output.test(id)) {
        break;
      }
      if (i < tokens) {
        logits = session.step(id);
      }
    }
    return output.finish();
  }
}

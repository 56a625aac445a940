package io.steelyard.app;

import io.steelyard.models.Model;
import io.steelyard.models.tokenizer.StreamDecoder;
import io.steelyard.models.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/** The text of a sequence in which there are masks. */
final class SettlingText {
  /** What DiffuCoder fills up its answers with. */
  private static final String PADDING = "<|dlm_pad|>";

  private static final String PADDING_KEY = "tokenizer.ggml.padding_token_id";

  private final Tokenizer tokenizer;
  private final Set<Integer> ends;
  private final int mask;
  private final int prompt;

  /**
   * For a model's sequences.
   *
   * @param prompt tokens before the answer
   */
  SettlingText(Model model, int mask, int prompt) {
    this.tokenizer = model.tokenizer();
    this.mask = mask;
    this.prompt = prompt;
    ends = new TreeSet<>(tokenizer.endOfGeneration());
    ends.add((int) model.metadata().integer(PADDING_KEY, -1));
    int[] padding = tokenizer.encode(PADDING, true);
    if (padding.length == 1) {
      ends.add(padding[0]);
    }
  }

  /** The answer with a sign for each mask, and what follows its end. */
  String soFar(int[] sequence, String sign) {
    StringBuilder text = new StringBuilder();
    StreamDecoder decoder = tokenizer.stream(false);
    for (int i = prompt; i < sequence.length; i++) {
      text.append(sequence[i] == mask ? decoder.flush() + sign : decoder.push(sequence[i]));
    }
    return text.append(decoder.flush()).toString();
  }

  /** The answer up to its end. */
  String answer(int[] sequence) {
    return soFar(Arrays.copyOf(sequence, prompt + answerTokens(sequence)), "");
  }

  /** Tokens of the answer before its end or padding. */
  int answerTokens(int[] sequence) {
    int end = prompt;
    while (end < sequence.length && !ends.contains(sequence[end])) {
      end++;
    }
    return end - prompt;
  }
}

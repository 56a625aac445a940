package io.steelyard.engines.attention;

import io.steelyard.lab.parity.TextWindows;
import io.steelyard.models.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** A text in windows of a model's tokens. */
final class Windows {
  private Windows() {}

  /**
   * Cuts a text.
   *
   * @param most windows, spread over the text
   * @throws IllegalArgumentException if the text holds no window
   */
  static TextWindows cut(VariantModel model, String text, int tokens, int most) {
    Tokenizer tokenizer = model.model().tokenizer();
    OptionalInt begin = tokenizer.addBos() ? tokenizer.bos() : OptionalInt.empty();
    int[] ids = tokenizer.encode(text, false);
    if (ids.length + (begin.isPresent() ? 1 : 0) < tokens) {
      throw new IllegalArgumentException(
          "the text has %d tokens, too few for a window of %d: give a longer text or fewer tokens"
              .formatted(ids.length, tokens));
    }
    List<int[]> all = TextWindows.cut(ids, tokens, begin).windows();
    int count = Math.min(most, all.size());
    List<int[]> spread = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      spread.add(all.get(i * all.size() / count));
    }
    return new TextWindows(spread);
  }
}

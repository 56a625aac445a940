package io.steelyard.lab.text;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The texts that ship with Steelyard: eight varied ones that prompts are cut from, three short ones
 * for teacher-forced parity, a list of awkward cases for tokenizers, and eight others that are kept
 * for perplexity.
 */
public final class Texts {
  /**
   * Changes whenever a prompt, a parity text or a tokenizer case does, so that nothing cached for
   * the old ones is used.
   */
  public static final int VERSION = 1;

  private static final int PROMPTS = 8;
  private static final int PARITY = 3;
  private static final int PERPLEXITY = 8;

  private Texts() {}

  /** The texts that prompts are cut from. */
  public static List<String> prompts() {
    return numbered("prompt", PROMPTS);
  }

  /** The texts whose logits are compared with the oracle's. */
  public static List<String> parity() {
    return numbered("parity", PARITY);
  }

  /** Awkward cases for a tokenizer, one each. */
  public static List<String> tokenCases() {
    return read("tokens.txt").lines().toList();
  }

  /**
   * A story, an essay, code in ten languages, a scene of a play, short prose in twenty languages,
   * everyday writing, and notes with formulas and tables, one after the other. No timed call and no
   * parity run sees them.
   */
  public static String perplexity() {
    return String.join("\n", numbered("perplexity", PERPLEXITY));
  }

  private static List<String> numbered(String name, int count) {
    return IntStream.rangeClosed(1, count).mapToObj(n -> read(name + "-" + n + ".txt")).toList();
  }

  private static String read(String name) {
    try (InputStream in = Texts.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

package io.steelyard.models.tokenizer;

import java.util.List;

/**
 * The regular expressions by which vocabularies cut text into words, the way their {@code
 * tokenizer.json} has them; a list where they are stages, each of which cuts what those before it
 * left.
 */
public final class PublishedPatterns {
  private static final String CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
  private static final String LEAD = "[^\\r\\n\\p{L}\\p{N}]?";
  private static final String LINES_AND_SPACES = "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  private static final String UPPER = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
  private static final String LOWER = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";

  /** A digit, as a stage. */
  static final String DIGIT = "\\p{N}";

  static final String GPT2 =
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

  /** GPT-4 and its descendants, of which Llama 3 is one. */
  public static final String GPT4 = words("{1,3}");

  /** Qwen 2 and its descendants: GPT-4's, digits one by one. */
  public static final String QWEN2 = words("");

  /** Qwen 3.5: Qwen 2's with marks counted as parts of words. */
  public static final String QWEN35 =
      CONTRACTIONS
          + "|"
          + LEAD
          + "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*"
          + LINES_AND_SPACES;

  /** GPT-4o and its descendants: a word begins where upper case begins. */
  public static final String GPT4O = cased(CONTRACTIONS + "?", "{1,3}");

  /** Mistral's Tekken: GPT-4o's without contractions, digits one by one. */
  public static final String TEKKEN = cased("", "");

  /**
   * DeepSeek Coder, but for its last stage, {@link #DIGIT}, which {@code tokenizer.json} has no
   * expression for.
   */
  public static final List<String> DEEPSEEK_CODER =
      List.of("[\r\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[一-龥ࠀ-一가-\uD7FF]+");

  /** DeepSeek V3 and R1. */
  public static final List<String> DEEPSEEK_V3 =
      List.of(
          "\\p{N}{1,3}",
          "[一-龥\u3040-ゟ゠-ヿ]+",
          "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
              + "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
              + "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+");

  static final List<String> FALCON = List.of("[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2, "[0-9][0-9][0-9]");

  static final String SEED_CODER =
      CONTRACTIONS
          + "|"
          + LEAD
          + "\\p{L}+|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+"
          + LINES_AND_SPACES;

  static final String BAILING =
      "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*"
          + "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+";

  /** Bloom, Finnish GPT-3 and Poro. */
  public static final String BLOOM = " ?[^(\\s|.,!?…。，、।۔،)]+";

  /** Bloom's, digits one by one. */
  public static final List<String> VIKING = List.of(BLOOM, DIGIT);

  private PublishedPatterns() {}

  private static String words(String digits) {
    return CONTRACTIONS
        + "|"
        + LEAD
        + "\\p{L}+|\\p{N}"
        + digits
        + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
        + LINES_AND_SPACES;
  }

  private static String cased(String contractions, String digits) {
    return LEAD
        + UPPER
        + "*"
        + LOWER
        + "+"
        + contractions
        + "|"
        + LEAD
        + UPPER
        + "+"
        + LOWER
        + "*"
        + contractions
        + "|\\p{N}"
        + digits
        + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*"
        + LINES_AND_SPACES;
  }
}

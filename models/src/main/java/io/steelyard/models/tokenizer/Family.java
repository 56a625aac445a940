package io.steelyard.models.tokenizer;

import io.steelyard.models.ModelException;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;

/**
 * How the byte-level models that share a {@code tokenizer.ggml.pre} tokenize.
 *
 * @param words the pattern that cuts text into words
 * @param wholeWordsFirst whether a word that is a token is taken before any merge
 * @param addsBos whether texts begin with a beginning token unless the file says otherwise
 */
record Family(PreTokenizer words, boolean wholeWordsFirst, boolean addsBos) {
  private static final Map<String, Family> BY_NAME = new HashMap<>();

  static {
    put(new Family(PreTokenizer.unnamed(), false, false), "", "default");
    put(
        new Family(PreTokenizer.gpt2(), false, false),
        "gpt-2 phi-2 mpt olmo jais trillion granite-docling gigachat a.x-4.0 mellum exaone4 jina-es jina-de jina-v1-en jina-v2-es jina-v2-de jina-v2-code roberta-bpe modern-bert"
            .split(" ", -1));
    put(
        new Family(PreTokenizer.smollm(), false, false),
        "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2".split(" ", -1));
    put(
        new Family(PreTokenizer.llama3(), true, true),
        "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2".split(" ", -1));
    put(
        new Family(PreTokenizer.llama3(), false, false),
        "dbrx smaug-bpe glm4 chatglm-bpe".split(" ", -1));
    put(
        new Family(PreTokenizer.qwen2(), false, false),
        "qwen2 deepseek-r1-qwen kormo megrez stablelm2 hunyuan solar-open grok-2".split(" ", -1));
    put(
        new Family(RegexPreTokenizer.of(PublishedPatterns.GPT4O), false, false),
        "gpt-4o",
        "llama4",
        "minimax-m2");
    put(new Family(RegexPreTokenizer.of(PublishedPatterns.TEKKEN), true, false), "tekken");
    put(
        new Family(
            RegexPreTokenizer.of(PublishedPatterns.DEEPSEEK_CODER)
                .then(RegexPreTokenizer.of(PublishedPatterns.DIGIT)),
            false,
            false),
        "deepseek-coder");
    put(
        new Family(RegexPreTokenizer.of(PublishedPatterns.DEEPSEEK_V3), false, false),
        "deepseek-v3",
        "hunyuan-dense");
    put(new Family(RegexPreTokenizer.of(PublishedPatterns.FALCON), false, false), "falcon");
    put(new Family(RegexPreTokenizer.of(PublishedPatterns.QWEN35), false, false), "qwen35");
    put(new Family(RegexPreTokenizer.of(PublishedPatterns.SEED_CODER), false, false), "seed-coder");
    put(
        new Family(RegexPreTokenizer.of(PublishedPatterns.BAILING), false, false),
        "bailingmoe",
        "llada-moe");
    put(
        new Family(RegexPreTokenizer.of(PublishedPatterns.BLOOM), false, false),
        "bloom",
        "gpt3-finnish",
        "poro-chat");
    put(new Family(RegexPreTokenizer.of(PublishedPatterns.VIKING), false, false), "viking");
  }

  private static void put(Family family, String... names) {
    for (String name : names) {
      BY_NAME.put(name, family);
    }
  }

  /**
   * The family of a name; an empty one, from files of before there were names, is the default.
   *
   * @throws ModelException if it is none of those supported
   */
  static Family named(String name) {
    Family family = BY_NAME.get(name);
    if (family == null) {
      TreeSet<String> names = new TreeSet<>(BY_NAME.keySet());
      names.remove("");
      throw new ModelException(
          "the pre-tokenizer \"%s\" (tokenizer.ggml.pre) is not supported; those are: %s"
              .formatted(Vocabulary.shortened(name), String.join(", ", names)));
    }
    return family;
  }
}

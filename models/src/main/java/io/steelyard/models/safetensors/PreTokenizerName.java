package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/**
 * The name that GGUF files give to the pattern which cuts text into words. llama.cpp's converter
 * knows it by a checksum of how a sample is tokenized; here it is known by what {@code
 * tokenizer.json} says of the pattern, which also names vocabularies that nobody has listed.
 */
final class PreTokenizerName {
  private static final String CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
  private static final String CASED_END =
      "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  private static final String UPPER = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
  private static final String LOWER = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";
  private static final String LEAD = "[^\\r\\n\\p{L}\\p{N}]?";

  private static final String BYTES_AFTER = ", bytes";

  /** The pattern of Qwen 2 and its descendants. */
  static final String QWEN2 = words("");

  private static final String GPT2 = "bytes by GPT-2's pattern";
  private static final String ENDS = "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  private static final String BLOOM = " ?[^(\\s|.,!?…。，、।۔،)]+";

  private static final Map<String, String> BY_PATTERN =
      Map.of(
          words("{1,3}"),
          "dbrx",
          QWEN2,
          "qwen2",
          cased(CONTRACTIONS + "?", "{1,3}"),
          "gpt-4o",
          cased("", ""),
          "tekken",
          "[\r\n], \\s?\\p{L}+, \\s?\\p{P}+, [一-龥ࠀ-一가-\uD7FF]+, digits",
          "deepseek-coder",
          "\\p{N}{1,3}, [一-龥\u3040-ゟ゠-ヿ]+, "
              + "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
              + "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
              + "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
          "deepseek-v3",
          CONTRACTIONS
              + "|"
              + LEAD
              + "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*"
              + ENDS,
          "qwen35",
          BLOOM,
          "bloom",
          BLOOM + ", \\p{N}",
          "viking");

  private PreTokenizerName() {}

  /** The pattern of GPT-4 and its descendants. */
  private static String words(String digits) {
    return CONTRACTIONS
        + "|"
        + LEAD
        + "\\p{L}+|\\p{N}"
        + digits
        + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  }

  /** That of GPT-4o and its descendants. */
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
        + CASED_END;
  }

  /**
   * The name of a byte-level tokenizer's pattern.
   *
   * @throws ModelException if it is none of those that have a name here
   */
  static String of(Path file, JsonNode tokenizer, JsonNode model) {
    JsonNode given = tokenizer.path("pre_tokenizer");
    List<JsonNode> steps = new ArrayList<>();
    if (given.path("pretokenizers").isArray()) {
      given.path("pretokenizers").forEach(steps::add);
    } else {
      steps.add(given);
    }
    String described =
        steps.stream().map(PreTokenizerName::described).collect(Collectors.joining(", "));
    return switch (described) {
      case GPT2 -> "gpt-2";
      case "digits, " + GPT2 -> "smollm";
      case "punctuation, " + GPT2 + ", numbers, [0-9][0-9][0-9]" -> "falcon";
      default -> {
        String pattern = described.replaceFirst(BYTES_AFTER + "$", "");
        String name = described.endsWith(BYTES_AFTER) ? BY_PATTERN.get(pattern) : null;
        if (name == null) {
          throw new ModelException(
              "%s cuts text into words by '%s', which isn't supported"
                  .formatted(file, printable(described)));
        }
        // Llama 3 differs from the others of its pattern in taking whole words first.
        boolean wholeWords = model.path("ignore_merges").asBoolean(false);
        yield name.equals("dbrx") && wholeWords ? "llama-bpe" : name;
      }
    };
  }

  private static String described(JsonNode step) {
    String type = step.path("type").asString("nothing");
    return switch (type) {
      case "ByteLevel" -> step.path("use_regex").asBoolean(true) ? GPT2 : "bytes";
      case "Digits" -> step.path("individual_digits").asBoolean(false) ? "digits" : "numbers";
      case "Punctuation" ->
          step.path("behavior").asString("").equals("Contiguous") ? "punctuation" : type;
      case "Split" -> step.path("pattern").path("Regex").asString("?");
      default -> type;
    };
  }
}

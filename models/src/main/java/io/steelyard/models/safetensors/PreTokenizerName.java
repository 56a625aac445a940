package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import io.steelyard.models.tokenizer.PublishedPatterns;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * The name that GGUF files give to the pattern which cuts text into words. llama.cpp's converter
 * knows it by a checksum of how a sample is tokenized; here it is known by what {@code
 * tokenizer.json} says of the pattern, which also names vocabularies that nobody has listed.
 */
final class PreTokenizerName {
  private static final String BYTES_AFTER = ", bytes";
  private static final String GPT2 = "bytes by GPT-2's pattern";

  private static final Map<String, String> BY_PATTERN =
      Map.of(
          PublishedPatterns.GPT4,
          "dbrx",
          PublishedPatterns.QWEN2,
          "qwen2",
          PublishedPatterns.QWEN35,
          "qwen35",
          PublishedPatterns.GPT4O,
          "gpt-4o",
          PublishedPatterns.TEKKEN,
          "tekken",
          steps(PublishedPatterns.DEEPSEEK_CODER) + ", digits",
          "deepseek-coder",
          steps(PublishedPatterns.DEEPSEEK_V3),
          "deepseek-v3",
          PublishedPatterns.BLOOM,
          "bloom",
          steps(PublishedPatterns.VIKING),
          "viking");

  private PreTokenizerName() {}

  private static String steps(List<String> described) {
    return String.join(", ", described);
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
    String described = steps(steps.stream().map(PreTokenizerName::described).toList());
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

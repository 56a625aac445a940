package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import io.steelyard.models.tokenizer.PublishedPatterns;
import java.nio.file.Path;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A byte-level tokenizer in {@code vocab.json} and {@code merges.txt}, as models have it whose
 * tokenizer is a class in Python: Dream and DiffuCoder. The class says how text is cut into words.
 */
final class VocabularyFiles {
  private static final int MOST_BYTES = 64 << 20;

  private VocabularyFiles() {}

  /**
   * The files as one {@code tokenizer.json}, or nothing where they aren't there.
   *
   * @param settings {@code tokenizer_config.json}
   * @throws ModelException if they are damaged or of an unknown class
   */
  static Optional<JsonNode> of(Path folder, JsonNode settings) {
    Optional<JsonNode> vocabulary = JsonFile.read(folder.resolve("vocab.json"), MOST_BYTES);
    Optional<String> merges = JsonFile.text(folder.resolve("merges.txt"), MOST_BYTES);
    if (vocabulary.isEmpty() || merges.isEmpty()) {
      return Optional.empty();
    }
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    ArrayNode pairs = nodes.arrayNode();
    merges
        .get()
        .lines()
        .filter(line -> !line.isBlank() && !line.startsWith("#version"))
        .forEach(pairs::add);
    ObjectNode model = nodes.objectNode();
    model.put("type", "BPE");
    model.set("vocab", vocabulary.get());
    model.set("merges", pairs);
    ObjectNode tokenizer = nodes.objectNode();
    tokenizer.set("model", model);
    tokenizer.set("pre_tokenizer", words(folder, settings));
    return Optional.of(tokenizer);
  }

  private static JsonNode words(Path folder, JsonNode settings) {
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    String type = settings.path("tokenizer_class").asString("");
    return switch (type) {
      case "GPT2Tokenizer", "GPT2TokenizerFast" -> nodes.objectNode().put("type", "ByteLevel");
      case "Qwen2Tokenizer", "Qwen2TokenizerFast", "DreamTokenizer" -> {
        ObjectNode split = nodes.objectNode().put("type", "Split");
        split.set("pattern", nodes.objectNode().put("Regex", PublishedPatterns.QWEN2));
        ArrayNode steps = nodes.arrayNode();
        steps.add(split);
        steps.add(nodes.objectNode().put("type", "ByteLevel").put("use_regex", false));
        yield nodes.objectNode().set("pretokenizers", steps);
      }
      default ->
          throw new ModelException(
              "%s has no tokenizer.json, and how the class '%s' of its tokenizer_config.json cuts text into words isn't known; fetch or make a tokenizer.json"
                  .formatted(folder, printable(type)));
    };
  }
}

package io.steelyard.models.safetensors;

import io.steelyard.models.ModelException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;

/**
 * A model's {@code config.json}, read by whichever of the spellings in use it has. What a model of
 * several parts says of its language model, in {@code text_config}, stands above the rest.
 */
final class CheckpointConfig {
  private static final int MOST_BYTES = 4 << 20;

  /** Larger than any model's dimensions; keeps products of two of them within 63 bits. */
  private static final int LARGEST = 1 << 28;

  private final Path file;
  private final JsonNode root;
  private final JsonNode text;

  private CheckpointConfig(Path file, JsonNode root) {
    this.file = file;
    this.root = root;
    this.text = root.path("text_config");
  }

  /**
   * Reads a folder's configuration.
   *
   * @throws ModelException if it is missing, damaged, or that of a quantised checkpoint
   */
  static CheckpointConfig read(Path folder) {
    Path file = folder.resolve("config.json");
    JsonNode root =
        JsonFile.read(file, MOST_BYTES)
            .orElseThrow(
                () ->
                    new ModelException(
                        "there is no %s, which says what model the tensors make; fetch it too"
                            .formatted(file)));
    CheckpointConfig config = new CheckpointConfig(file, root);
    JsonNode quantised = config.node("quantization_config");
    if (quantised.isObject()) {
      throw config.fault(
          "the weights are quantised with '%s', which Steelyard doesn't decode; take the model as it was before"
              .formatted(quantised.path("quant_method").asString("?")));
    }
    return config;
  }

  /** What is wrong with this configuration, in a message that names the file. */
  ModelException fault(String what) {
    return new ModelException(file + ": " + what);
  }

  /** The first of some properties that is there, or a missing node. */
  JsonNode node(String... names) {
    for (String name : names) {
      for (JsonNode part : new JsonNode[] {text, root}) {
        JsonNode value = part.path(name);
        if (!value.isMissingNode() && !value.isNull()) {
          return value;
        }
      }
    }
    return root.path("");
  }

  /** A text, or nothing. */
  Optional<String> string(String name) {
    JsonNode value = node(name);
    return value.isString() ? Optional.of(value.asString()) : Optional.empty();
  }

  /** A size from 1 on; the names are spellings of it. */
  int count(String... names) {
    return optionalCount(names)
        .orElseThrow(() -> fault("'%s' is missing; the model needs it".formatted(names[0])));
  }

  /** A size from 1 on, or nothing where none of the spellings is there. */
  OptionalInt optionalCount(String... names) {
    JsonNode value = node(names);
    if (value.isMissingNode()) {
      return OptionalInt.empty();
    }
    if (!value.isIntegralNumber()
        || !value.canConvertToInt()
        || value.asInt() < 1
        || value.asInt() > LARGEST) {
      throw fault(
          "'%s' is %s where a whole number from 1 to %d is needed"
              .formatted(Arrays.asList(names).getFirst(), value, LARGEST));
    }
    return OptionalInt.of(value.asInt());
  }

  /** A token's id, or nothing; a list stands for its first. */
  OptionalInt token(String name) {
    JsonNode value = node(name);
    JsonNode id = value.isArray() && !value.isEmpty() ? value.get(0) : value;
    return id.isIntegralNumber() && id.canConvertToInt() && id.asInt() >= 0
        ? OptionalInt.of(id.asInt())
        : OptionalInt.empty();
  }

  /** A positive number, or nothing where none of the spellings is there. */
  OptionalDouble positive(String... names) {
    return positive(node(names), names[0]);
  }

  /** A positive number out of an object of this configuration. */
  OptionalDouble positive(JsonNode value, String name) {
    if (value.isMissingNode() || value.isNull()) {
      return OptionalDouble.empty();
    }
    double number = value.isNumber() ? value.asDouble() : Double.NaN;
    if (!(number > 0) || Double.isInfinite(number)) {
      throw fault("'%s' is %s where a positive number is needed".formatted(name, value));
    }
    return OptionalDouble.of(number);
  }
}

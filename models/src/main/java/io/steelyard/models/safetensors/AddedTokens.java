package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Tokens that are found in a text before it is cut into words: {@code added_tokens} of {@code
 * tokenizer.json} and {@code added_tokens_decoder} of {@code tokenizer_config.json}.
 */
final class AddedTokens {
  /**
   * One of them.
   *
   * @param special whether its file marks it as one that is no text
   */
  record Added(int id, String content, boolean special) {}

  private final TokenizerFiles files;
  private final Map<Integer, Added> byId = new LinkedHashMap<>();

  private AddedTokens(TokenizerFiles files) {
    this.files = files;
  }

  /**
   * Reads them.
   *
   * @throws ModelException if the files are damaged
   */
  static AddedTokens of(TokenizerFiles files) {
    AddedTokens added = new AddedTokens(files);
    for (JsonNode token : files.tokenizer().path("added_tokens")) {
      added.add(token, files.id(token.path("id"), "added_tokens"));
    }
    files
        .settings()
        .path("added_tokens_decoder")
        .properties()
        .forEach(token -> added.add(token.getValue(), added.decoderId(token.getKey())));
    return added;
  }

  private void add(JsonNode token, int id) {
    String content = token.path("content").asString("");
    if (content.isEmpty()) {
      throw files.fault("the added token %d has no content".formatted(id));
    }
    byId.putIfAbsent(id, new Added(id, content, token.path("special").asBoolean(false)));
  }

  private int decoderId(String text) {
    try {
      return files.id(JsonNodeFactory.instance.numberNode(Integer.parseInt(text)), text);
    } catch (NumberFormatException e) {
      throw files.fault("'added_tokens_decoder' has the id '%s'".formatted(printable(text)));
    }
  }

  Collection<Added> all() {
    return byId.values();
  }

  Optional<Added> find(int id) {
    return Optional.ofNullable(byId.get(id));
  }

  /** The id of the first with this content. */
  OptionalInt idOf(String content) {
    return byId.values().stream()
        .filter(known -> known.content().equals(content))
        .mapToInt(Added::id)
        .findFirst();
  }
}

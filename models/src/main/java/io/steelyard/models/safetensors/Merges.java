package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.ModelException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * The merges of byte-pair encoding, the first that happens first.
 *
 * @param pairs the two sides of each
 */
record Merges(List<String[]> pairs) {
  /** The spelling of a space in byte-level vocabularies, as merges in text must have it. */
  private static final String BYTE_LEVEL_SPACE = "Ġ";

  /**
   * The merges of {@code tokenizer.json}.
   *
   * @throws ModelException if there are none, or they are damaged
   */
  static Merges of(TokenizerFiles files) {
    List<String[]> merges = new ArrayList<>();
    for (JsonNode merge : files.model().path("merges")) {
      String[] sides =
          merge.isArray()
              ? new String[] {merge.path(0).asString(""), merge.path(1).asString("")}
              : merge.asString("").split(" ", -1);
      if (sides.length != 2
          || sides[0].isEmpty()
          || sides[1].isEmpty()
          || (merge.isArray() && merge.size() != 2)) {
        throw files.fault(
            "'merges' has %s, which is no pair of tokens".formatted(printable(merge.toString())));
      }
      merges.add(sides);
    }
    if (merges.isEmpty()) {
      throw files.fault("the tokenizer has no 'merges'");
    }
    return new Merges(merges);
  }

  /** As GGUF writes them: a space between the sides. */
  List<String> written() {
    return pairs.stream().map(Merges::written).toList();
  }

  private static String written(String[] sides) {
    return sides[0].replace(" ", BYTE_LEVEL_SPACE) + " " + sides[1].replace(" ", BYTE_LEVEL_SPACE);
  }

  /** By the token that is made, the place of the first merge that makes it; others don't count. */
  Map<String, Integer> places() {
    Map<String, Integer> places = new HashMap<>();
    for (String[] sides : pairs) {
      places.putIfAbsent(sides[0] + sides[1], places.size());
    }
    return places;
  }
}

package io.steelyard.models.gguf;

import io.steelyard.kernels.DataType;
import io.steelyard.models.NearMatch;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Names of the tensor types that ggml has given up, so that a refusal can say which it met. */
final class GgmlTypes {
  private static final Map<Integer, String> NAMES =
      Map.of(
          4,
          "Q4_2",
          5,
          "Q4_3",
          31,
          "Q4_0_4_4",
          32,
          "Q4_0_4_8",
          33,
          "Q4_0_8_8",
          36,
          "IQ4_NL_4_4",
          37,
          "IQ4_NL_4_8",
          38,
          "IQ4_NL_8_8");

  private GgmlTypes() {}

  /** What of those that are read is nearest to a type with a name; nothing of one without. */
  static String nearest(int id) {
    if (!NAMES.containsKey(id)) {
      return "";
    }
    List<String> known = Arrays.stream(DataType.values()).map(Enum::name).toList();
    return " nearest to it are %s;"
        .formatted(String.join(", ", NearMatch.nearest(NAMES.get(id), known)));
  }

  /** A type's name, or its number where ggml has no name for it either. */
  static String name(int id) {
    return NAMES.getOrDefault(id, "number " + Integer.toUnsignedString(id));
  }
}

package io.steelyard.models.gguf;

import java.util.Map;

/** Names of the tensor types that ggml knows, so that a refusal can say which one it met. */
final class GgmlTypes {
  private static final Map<Integer, String> NAMES =
      Map.ofEntries(
          Map.entry(6, "Q5_0"),
          Map.entry(7, "Q5_1"),
          Map.entry(9, "Q8_1"),
          Map.entry(10, "Q2_K"),
          Map.entry(11, "Q3_K"),
          Map.entry(15, "Q8_K"),
          Map.entry(16, "IQ2_XXS"),
          Map.entry(17, "IQ2_XS"),
          Map.entry(18, "IQ3_XXS"),
          Map.entry(19, "IQ1_S"),
          Map.entry(20, "IQ4_NL"),
          Map.entry(21, "IQ3_S"),
          Map.entry(22, "IQ2_S"),
          Map.entry(23, "IQ4_XS"),
          Map.entry(24, "I8"),
          Map.entry(25, "I16"),
          Map.entry(26, "I32"),
          Map.entry(27, "I64"),
          Map.entry(28, "F64"),
          Map.entry(29, "IQ1_M"),
          Map.entry(31, "Q4_0_4_4"),
          Map.entry(32, "Q4_0_4_8"),
          Map.entry(33, "Q4_0_8_8"),
          Map.entry(34, "TQ1_0"),
          Map.entry(35, "TQ2_0"),
          Map.entry(39, "MXFP4"),
          Map.entry(40, "NVFP4"),
          Map.entry(41, "Q1_0"),
          Map.entry(42, "Q2_0"));

  private GgmlTypes() {}

  /** A type's name, or its number where ggml has no name for it either. */
  static String name(int id) {
    return NAMES.getOrDefault(id, "number " + Integer.toUnsignedString(id));
  }
}

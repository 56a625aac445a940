package io.steelyard.app;

import io.steelyard.kernels.attention.Variants;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Spellings of variants of attention as a command line gives them. */
final class AttentionSpellings {
  /** Patterns of block-sparse attention that take a density. */
  private static final Set<String> CHOSEN =
      Set.of("pattern=random", "pattern=adaptive", "pattern=learned");

  private AttentionSpellings() {}

  /**
   * Variants parted by commas, with parameters that are parted by commas, too.
   *
   * @throws UsageException if there is no such variant, or it is named twice
   */
  static List<String> of(String variants) {
    List<String> spellings = new ArrayList<>();
    for (String part : variants.split(",", -1)) {
      // A parameter of the variant before: variants' names hold no equals sign.
      if (!spellings.isEmpty() && part.contains("=") && !part.contains(":")) {
        spellings.add(spellings.removeLast() + "," + part);
      } else {
        spellings.add(part.strip());
      }
    }
    if (spellings.contains("")) {
      throw new UsageException("--variants has a comma with no variant beside it: " + variants);
    }
    if (spellings.stream().distinct().count() < spellings.size()) {
      throw new UsageException("--variants names one twice: " + variants);
    }
    spellings.forEach(spelling -> AttentionOptions.asked(() -> Variants.of(spelling)));
    return spellings;
  }

  /** Each variant that takes a density and has none at each of some; the others as they are. */
  static List<String> atDensities(List<String> spellings, List<Double> densities) {
    List<String> all = new ArrayList<>();
    for (String spelling : spellings) {
      List<String> parts = List.of(spelling.split("[:,]", -1));
      boolean sparse = parts.getFirst().equals("sparse");
      boolean given = parts.stream().anyMatch(AttentionSpellings::saysHowMuch);
      if (given || !(sparse || parts.stream().anyMatch(CHOSEN::contains))) {
        all.add(spelling);
        continue;
      }
      for (double density : densities) {
        all.add(
            "%s%s%s=%s"
                .formatted(
                    spelling,
                    parts.size() == 1 ? ":" : ",",
                    sparse ? "ratio" : "density",
                    number(sparse ? 1 - density : density)));
      }
    }
    return all;
  }

  private static boolean saysHowMuch(String parameter) {
    return parameter.matches("(ratio|density|share)=.*");
  }

  /** Without what the subtraction of decimal fractions leaves. */
  private static String number(double share) {
    return Double.toString(Math.round(share * 1e9) / 1e9);
  }
}

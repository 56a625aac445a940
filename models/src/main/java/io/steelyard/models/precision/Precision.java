package io.steelyard.models.precision;

import io.steelyard.kernels.DataType;
import io.steelyard.models.UnknownNameException;
import io.steelyard.models.quantize.Scheme;
import java.util.Arrays;
import java.util.Locale;

/**
 * Which type each matrix of a model gets, under the name that model files carry: a type throughout,
 * or one of the mixes of llama.cpp's quantiser whose names end in s, m or l, which give some
 * matrices more bits than the rest.
 *
 * @param name in lower case
 * @param scheme the types
 */
public record Precision(String name, Scheme scheme) {
  /**
   * A precision by its name, in whatever case.
   *
   * @throws UnknownNameException listing the names if there is none such
   */
  public static Precision of(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    if (!Scheme.all().contains(lower)) {
      throw new UnknownNameException(
          "there is no precision '%s'; precisions are %s".formatted(name, names()));
    }
    Scheme scheme =
        Arrays.stream(DataType.values())
            .filter(type -> type.name().toLowerCase(Locale.ROOT).equals(lower))
            .findFirst()
            .map(Scheme::pure)
            .orElseGet(() -> Scheme.of(lower));
    return new Precision(lower, scheme);
  }

  /** All names, for messages. */
  public static String names() {
    return String.join(", ", Scheme.all());
  }

  /** Type of most matrices. */
  public DataType usual() {
    return scheme.usual();
  }
}

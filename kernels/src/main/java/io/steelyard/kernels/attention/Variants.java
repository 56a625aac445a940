package io.steelyard.kernels.attention;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** Every variant of attention by its name. */
public final class Variants {
  private static final Map<String, Kind> KINDS = new LinkedHashMap<>();

  private record Kind(String description, Function<Parameters, Variant> maker) {}

  static {
    add("dense", "softmax over a whole row of scores in memory", Flash::dense);
    add("flash", "the same value, tiled, with an online softmax", Flash::flash);
    add("dilated", "every r-th position of a segment, gathered", Dilated::plain);
    add("improved-dilated", "the same without gathered copies", Dilated::improved);
    add("longnet", "every head in every dilated branch, merged by their sums", LongNet::of);
    add("ring", "exact attention with the length split over ranks", Ring::of);
    add("ring-dilated-v2", "dilated attention over ranks", RingDilated::v2);
    add("ring-dilated-v3", "the same with cached patterns and fewer merges", RingDilated::v3);
    add("block-sparse", "some blocks of keys, one softmax over all of them", BlockSparse::of);
    add("sparse", "a share of the keys is dropped", Sparse::of);
    add("flex", "attention by a rule", Flex::of);
    add("differential", "the difference of two softmaxes", Differential::of);
  }

  private Variants() {}

  private static void add(String name, String description, Function<Parameters, Variant> maker) {
    KINDS.put(name, new Kind(description, maker));
  }

  /** Names and what they stand for, in one line each. */
  public static Map<String, String> descriptions() {
    Map<String, String> descriptions = new LinkedHashMap<>();
    KINDS.forEach((name, kind) -> descriptions.put(name, kind.description()));
    return descriptions;
  }

  /**
   * The variant of a spelling: {@code name}, or {@code name:key=value,…}.
   *
   * @throws IllegalArgumentException if there is no such variant or parameter, or a value that it
   *     doesn't take; the message says what there is
   */
  public static Variant of(String spelling) {
    String[] parts = spelling.split(":", 2);
    Kind kind = KINDS.get(parts[0]);
    if (kind == null) {
      throw new IllegalArgumentException(
          "there is no attention '%s'; there is %s"
              .formatted(parts[0], String.join(", ", KINDS.keySet())));
    }
    Map<String, String> values = new LinkedHashMap<>();
    if (parts.length == 2) {
      for (String pair : parts[1].split(",", -1)) {
        int equals = pair.indexOf('=');
        if (equals < 1) {
          throw new IllegalArgumentException(
              "'%s' of attention %s: write key=value".formatted(pair, parts[0]));
        }
        String key = pair.substring(0, equals);
        if (values.put(key, pair.substring(equals + 1)) != null) {
          throw new IllegalArgumentException(
              "attention %s has '%s' twice".formatted(parts[0], key));
        }
      }
    }
    Parameters parameters = new Parameters(parts[0], values);
    Variant variant = kind.maker().apply(parameters);
    parameters.requireAllTaken();
    return variant;
  }

  /** Attention by a rule of one's own. */
  public static Variant flex(FlexRule rule) {
    return new Flex(_ -> rule);
  }
}

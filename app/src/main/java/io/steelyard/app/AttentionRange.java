package io.steelyard.app;

import io.steelyard.engines.attention.AttentionProblem;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Lengths that have a name together. K and M are 1,024 and its square. */
enum AttentionRange {
  PRODUCTION("1K 2K 4K 8K 12K 16K"),
  MEDIUM("32K 48K 64K 96K 128K"),
  LONG("256K 384K 512K 768K 1M"),
  DOCUMENT("512 1K 2K 4K"),
  CONTEXT("4K 8K 16K 32K"),
  BOOK("50K 100K 200K"),
  ALL(""),
  CUSTOM("");

  private final String lengths;

  AttentionRange(String lengths) {
    this.lengths = lengths;
  }

  /** The lengths, ascending; of {@link #CUSTOM} none. */
  List<Integer> lengths() {
    Stream<String> names =
        this == ALL
            ? Arrays.stream(values()).flatMap(range -> Arrays.stream(range.lengths.split(" ")))
            : Arrays.stream(lengths.split(" "));
    return names
        .filter(name -> !name.isEmpty())
        .map(AttentionProblem::length)
        .distinct()
        .sorted()
        .toList();
  }
}

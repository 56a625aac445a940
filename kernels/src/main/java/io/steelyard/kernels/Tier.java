package io.steelyard.kernels;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The implementations of every operator, from the plainest to the fastest. */
public enum Tier {
  /** Scalar Java with double accumulation: the oracle. */
  REFERENCE,
  /** The JDK's Vector API: portable. */
  VECTOR,
  /** Machine code of our own for AVX2 with FMA. */
  AVX2,
  /** Machine code of our own for AVX-512 with VNNI and BF16. */
  AVX512,
  /** The same, with AMX tiles for prompts. */
  AMX;

  /** The spelling on the command line and in records. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The tier of this spelling, if there is one. */
  public static Optional<Tier> ofLabel(String label) {
    return Arrays.stream(values()).filter(tier -> tier.label().equals(label)).findFirst();
  }

  /** All spellings, for messages: {@code reference|vector|…}. */
  public static String labels() {
    return Arrays.stream(values()).map(Tier::label).collect(Collectors.joining("|"));
  }
}

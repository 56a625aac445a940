package io.steelyard.models.synth;

import io.steelyard.models.quantize.Scheme;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Which type each matrix of a random model has, under the name that model files carry. */
public enum PrecisionMix {
  /** All matrices F16. */
  F16,
  /** All matrices BF16. */
  BF16,
  /** All matrices Q8_0. */
  Q8_0,
  /** All matrices Q4_0, the output too, which llama.cpp's quantiser would give Q6_K. */
  Q4_0,
  /** Q4_K, with Q6_K where more bits help most. */
  Q4_K_M,
  /** Q5_K, with Q6_K where more bits help most. */
  Q5_K_M,
  /** All matrices Q6_K. */
  Q6_K;

  /** How a quantiser would choose the types. */
  Scheme scheme() {
    Scheme scheme = Scheme.of(name());
    return this == Q4_0 ? scheme.pure() : scheme;
  }

  /** All names, for messages. */
  static String names() {
    return Arrays.stream(values()).map(Enum::name).collect(Collectors.joining(", "));
  }
}

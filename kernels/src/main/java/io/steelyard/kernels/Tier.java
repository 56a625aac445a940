package io.steelyard.kernels;

import java.util.Locale;

/** The implementations of every operator, from the plainest to the fastest. */
public enum Tier {
  /** Scalar Java with double accumulation: the oracle. */
  REFERENCE,
  /** The JDK's Vector API: portable. */
  VECTOR;

  /** The spelling on the command line and in records. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}

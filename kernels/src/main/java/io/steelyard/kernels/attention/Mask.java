package io.steelyard.kernels.attention;

/** Which keys each query of a head sees. */
interface Mask {
  /** Whether a query sees a key, but for causality. */
  boolean keeps(int query, int key);

  /** What it takes of memory. */
  long bytes();

  /** What queries see by it. */
  Sight sight(boolean causal);
}

package io.steelyard.lab.worker;

/** Told of each token as it is generated. */
@FunctionalInterface
public interface TokenListener {
  TokenListener NONE = id -> {};

  void token(int id);
}

package io.steelyard.models.architecture;

import io.steelyard.models.gguf.Metadata;

/**
 * An architecture's own part of a model's metadata, each value checked.
 *
 * @param architecture its name, with which the keys begin
 */
record Keys(Metadata metadata, String architecture) {
  /** Larger than any model's dimensions; keeps products of two of them within 63 bits. */
  private static final long LARGEST = 1 << 28;

  private String full(String key) {
    return architecture + "." + key;
  }

  boolean has(String key) {
    return metadata.has(full(key));
  }

  int count(String key) {
    return bounded(full(key), metadata.integer(full(key)));
  }

  int count(String key, int fallback) {
    return has(key) ? count(key) : fallback;
  }

  int bounded(String what, long value) {
    if (value < 1 || value > LARGEST) {
      throw metadata.fault(
          "%s is %d where a number from 1 to %d is needed; the file is damaged"
              .formatted(what, value, LARGEST));
    }
    return (int) value;
  }

  /** A number of which 0, or none at all, means that there is nothing of the kind. */
  int countOrNone(String key) {
    boolean none = !has(key) || metadata.integer(full(key)) == 0;
    return none ? 0 : count(key);
  }

  double positive(String key) {
    return positive(key, metadata.real(full(key)));
  }

  double positive(String key, double fallback) {
    double value = metadata.real(full(key), fallback);
    if (!(value > 0) || Double.isInfinite(value)) {
      throw metadata.fault(
          "%s is %s where a positive number is needed; the file is damaged"
              .formatted(full(key), value));
    }
    return value;
  }

  String string(String key, String fallback) {
    return metadata.string(full(key), fallback);
  }
}

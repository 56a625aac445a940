package io.steelyard.lab.worker;

import java.util.Map;
import java.util.Optional;

/**
 * What an operator did.
 *
 * @param nanos time of the operator
 * @param error largest difference from its oracle, relative to the largest value; 0 where exact
 * @param counts what it did by its own count, such as operations and bytes moved
 */
public record KernelReport(long nanos, double error, Optional<Map<String, Long>> counts) {
  /** Of an operator that counts nothing. */
  public KernelReport(long nanos, double error) {
    this(nanos, error, Optional.empty());
  }
}

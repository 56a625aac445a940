package io.steelyard.history;

import io.steelyard.lab.record.Entry.Role;

/**
 * One timed call, as a value of its cell's metric.
 *
 * @param block from 1
 * @param attempt counts how often the block was measured, from 1
 * @param fork counts the processes of its cell in its block, from 1
 * @param role what the call was for
 * @param number counts calls of this role in this process, from 0
 * @param counts whether the cell's figures rest on its process: false where the block was measured
 *     again or the process failed
 * @param value in the cell's unit, finite
 */
public record TimedValue(
    int block, int attempt, int fork, Role role, int number, boolean counts, double value) {
  public TimedValue {
    if (!Double.isFinite(value)) {
      throw new HistoryException("a timed call's value is " + value);
    }
  }

  /** A trial of the first block, as importers have them. */
  public static TimedValue trial(int fork, int number, double value) {
    return new TimedValue(1, 1, fork, Role.TRIAL, number, true, value);
  }

  /** Whether it is a trial that the cell's figures rest on. */
  public boolean isCountedTrial() {
    return counts && role == Role.TRIAL;
  }
}

package io.steelyard.lab.worker;

/**
 * What an operator did.
 *
 * @param nanos time of the operator
 * @param error largest difference from its oracle, relative to the largest value; 0 where exact
 */
public record KernelReport(long nanos, double error) {}

package io.steelyard.lab.worker;

/**
 * A batch of sequences for one forward pass.
 *
 * @param ids sequences of equal length
 */
public record ForwardRequest(int[][] ids) {}

package io.steelyard.lab.worker;

/**
 * What a prefill gave.
 *
 * @param nanos time of the tokens after the depth
 * @param argmax the most likely next token after the last one (ties: lowest id)
 */
public record PrefillReport(long nanos, int argmax) {}

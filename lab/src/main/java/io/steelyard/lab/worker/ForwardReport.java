package io.steelyard.lab.worker;

/**
 * What a batched forward pass gave.
 *
 * @param nanos time of the pass
 * @param checksum CRC-32 over the most likely token of every position (ties: lowest id), sequence
 *     by sequence, each as four bytes, least significant first
 */
public record ForwardReport(long nanos, long checksum) {}

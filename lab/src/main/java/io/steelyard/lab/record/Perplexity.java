package io.steelyard.lab.record;

/**
 * How well an engine foresees the texts of the parity run.
 *
 * @param value exp of the mean negative log-likelihood, in nats, of the tokens that really follow
 * @param ratio to the oracle's; above 1 is worse
 * @param error standard error of the ratio, over positions, each with itself
 */
public record Perplexity(double value, double ratio, double error) {}

package io.steelyard.lab.record;

import java.util.Optional;

/**
 * What a label generated in its parity run, over all prompts, against the baseline's or, without a
 * baseline, the first label's.
 *
 * @param label the engine's label
 * @param workload the decoding, such as {@code tg64}
 * @param tokens generated in all
 * @param passes forward passes that gave them, where the engine tells
 * @param prompts how many generations
 * @param similarity 1 − edits ÷ length, in tokens, mean over prompts
 * @param agreed share of the tokens before the first that differs
 */
public record Generated(
    String label,
    String workload,
    long tokens,
    Optional<Long> passes,
    int prompts,
    double similarity,
    double agreed) {}

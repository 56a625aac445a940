package io.steelyard.models.diffusion;

/**
 * What would fill in a mask.
 *
 * @param position in the sequence
 * @param id the token
 * @param confidence the larger, the sooner it is kept
 */
record Candidate(int position, int id, double confidence) {}

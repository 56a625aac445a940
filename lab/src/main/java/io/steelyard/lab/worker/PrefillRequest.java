package io.steelyard.lab.worker;

/**
 * A prompt to process.
 *
 * @param ids the depth's tokens followed by the timed ones
 * @param depth how many of the ids are in the cache before the clock starts; an engine whose cache
 *     holds just these may keep them
 */
public record PrefillRequest(int[] ids, int depth) {}

package io.steelyard.lab.worker;

import java.util.Map;

/**
 * An operator to time.
 *
 * @param name the operator
 * @param shape its sizes by name
 * @param seed of its random inputs
 */
public record KernelRequest(String name, Map<String, Long> shape, long seed) {}

package io.steelyard.lab.worker;

import java.util.List;

/**
 * Shape of what {@code layers} wrote: {@code names.size()} blocks of [positions, width] float32.
 *
 * @param names a name for each block, such as {@code embedding}, {@code layer 0}
 * @param width values a position
 */
public record LayersReport(List<String> names, int width) {}

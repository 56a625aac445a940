/** Benchmarks of one's own in Java: what {@code ./steelyard bench java} measures. */
package io.steelyard.lab.benchmark;

/** The engine {@code java}: benchmarks of the user's own, a variant a process. */
package io.steelyard.engines.benchmark;

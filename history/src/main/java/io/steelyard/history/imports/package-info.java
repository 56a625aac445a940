/**
 * Reads what other benchmark tools write. Every length is bounded before it is allocated, and an
 * error names the file and the place in it.
 */
package io.steelyard.history.imports;

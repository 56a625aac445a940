/** Single kernels under JMH. */
package io.steelyard.benchmarks;

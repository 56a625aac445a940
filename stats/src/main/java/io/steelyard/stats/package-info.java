/** Intervals, verdicts and the checks that samples must pass before either is believed. */
package io.steelyard.stats;

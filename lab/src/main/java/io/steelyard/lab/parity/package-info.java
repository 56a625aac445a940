/** The proof that engines compute the same thing: oracle, comparison, bounds, fairness sheet. */
package io.steelyard.lab.parity;

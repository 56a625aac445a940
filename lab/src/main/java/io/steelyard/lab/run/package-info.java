/**
 * Executing a plan: the journal of trials, the run directory, the block loop and what is derived
 * from it.
 */
package io.steelyard.lab.run;

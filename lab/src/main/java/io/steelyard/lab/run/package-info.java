/** Executing a plan: oracle, parity, the loop of blocks, and the summary of what they left. */
package io.steelyard.lab.run;

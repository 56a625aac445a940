/**
 * The records a run leaves behind: plan, trials, summary. Everything printed is derived from them.
 */
package io.steelyard.lab.record;

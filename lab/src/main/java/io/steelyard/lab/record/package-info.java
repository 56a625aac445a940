/**
 * What a run leaves on disk: plan, journal of trials, summary. Everything printed is derived from
 * it.
 */
package io.steelyard.lab.record;

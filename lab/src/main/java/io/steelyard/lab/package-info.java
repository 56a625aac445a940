/**
 * The laboratory: study, plan, parity, trials and verdicts over engines that run as worker
 * processes.
 */
package io.steelyard.lab;

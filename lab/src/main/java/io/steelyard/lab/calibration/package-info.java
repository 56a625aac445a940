/** What a machine's figures are worth: its clock, and an engine against itself. */
package io.steelyard.lab.calibration;

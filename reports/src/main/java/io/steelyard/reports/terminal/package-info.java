/** What a terminal can show, and how to show it: width, colour, tables, figures, progress. */
package io.steelyard.reports.terminal;

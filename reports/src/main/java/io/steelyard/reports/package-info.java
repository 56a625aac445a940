/** Tables, Markdown and plots, all derived from the records of a run. */
package io.steelyard.reports;

/** One small class a metric: name, unit, direction, formula and how a fork's record yields it. */
package io.steelyard.lab.metric;

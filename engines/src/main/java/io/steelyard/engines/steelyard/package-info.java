/** Steelyard's own engine, served over the worker protocol. */
package io.steelyard.engines.steelyard;

/** The engine {@code attention}: one variant of attention a process, on random inputs. */
package io.steelyard.engines.attention;

/**
 * The worker protocol: what an engine implements, what travels over its standard streams, and the
 * coordinator's side of it.
 */
package io.steelyard.lab.worker;

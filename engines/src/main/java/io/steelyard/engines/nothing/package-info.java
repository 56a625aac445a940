/** The engine {@code null}, which does nothing: it measures what the lab itself adds. */
package io.steelyard.engines.nothing;

package io.steelyard.engines;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Whether an engine's outside parts are there.
 *
 * @param name the engine's name
 * @param version the version that this Steelyard uses
 * @param directory where it is installed and was verified; empty where it can't be used
 * @param message one sentence for the user: where it is, or why it can't be used and what to do
 */
public record InstalledEngine(
    String name, String version, Optional<Path> directory, String message) {}

package io.steelyard.models.catalogue;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A model that can be asked for by name.
 *
 * @param name its name
 * @param aliases other names for it
 * @param bytes size of its file; -1 for a random model that hasn't been made yet
 * @param cached its file, if it is in the cache
 * @param random whether its weights are random
 * @param licence what it may be used under, in short; empty where nobody says
 * @param exact whether that is its exact size; of a model that the hub may change, it is about that
 */
public record ModelListing(
    String name,
    List<String> aliases,
    long bytes,
    Optional<Path> cached,
    boolean random,
    String licence,
    boolean exact) {}

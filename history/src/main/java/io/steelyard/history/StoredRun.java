package io.steelyard.history;

import java.time.Instant;
import java.util.Optional;

/**
 * A run in a history, without its figures.
 *
 * @param number names it in this history; names may occur twice, numbers don't
 * @param settings what every engine was told; empty where the labels say it all
 * @param hardware fingerprint of the hardware it was made on; empty where not known
 * @param processor the processor's name; empty where not known
 * @param cells how many cells it has
 * @param trials how many timed calls are kept of it
 */
public record StoredRun(
    long number,
    String name,
    String source,
    Instant started,
    String command,
    RunRecord.Model model,
    String settings,
    RunRecord.Commit commit,
    Optional<String> hardware,
    String processor,
    int cells,
    int trials) {}
